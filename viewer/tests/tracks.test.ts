import { describe, expect, it } from "vitest";
import { spreadOf } from "../src/report/errors";
import { fileName, runNames, type Report } from "../src/report/model";
import { headline } from "../src/report/tables";
import { rangeOf } from "../src/report/scatter";
import { distances, edgesOf, strains } from "../src/report/tracks";

describe("edges of a surface", () => {
    it("are there once, also those that two triangles share", () => {
        expect(Array.from(edgesOf(Uint32Array.from([0, 1, 2, 2, 1, 3]), new Uint32Array()))).toEqual([
            0, 1, 1, 2, 2, 0, 1, 3, 3, 2,
        ]);
    });
    it("follow the order of a curve", () => {
        expect(Array.from(edgesOf(new Uint32Array(), Uint32Array.from([2, 0, 1])))).toEqual([2, 0, 0, 1]);
    });
});

describe("strain", () => {
    it("is (l - L) / L, and the mean of the edges of a point", () => {
        const rest = Float32Array.from([0, 0, 1, 0, 2, 0]);
        const positions = Float32Array.from([0, 0, 0, 1.5, 0, 0, 1.5, 1, 0]);
        const found = strains(positions, rest, Uint32Array.from([0, 1, 1, 2]));
        expect(Array.from(found)).toEqual([0.5, 0.25, 0]);
    });
    it("is unknown at a point that is not seen", () => {
        const found = strains(Float32Array.from([0, 0, 0, NaN, 0, 0]), Float32Array.from([0, 0, 1, 0]), Uint32Array.from([0, 1]));
        expect(Array.from(found)).toEqual([NaN, NaN]);
    });
});

describe("distance from observed points", () => {
    it("weighs the points that a particle follows", () => {
        const source = Float32Array.from([0, 0, 0, 2, 0, 0]);
        const index = Uint32Array.from([0, 1, 0, 0]);
        const weight = Float32Array.from([0.5, 0.5, 0, 0]);
        expect(Array.from(distances(Float32Array.from([1, 3, 4]), source, index, weight))).toEqual([5]);
    });
});

describe("spread over rollouts", () => {
    it("leaves out rollouts that have ended", () => {
        const { mean, low, high } = spreadOf(Float32Array.from([1, 2, 3, 3, 4, NaN]), 2, 3);
        expect(mean).toEqual([2, 3, 3]);
        expect(low).toEqual([1, 2, 3]);
        expect(high).toEqual([3, 4, 3]);
    });
    it("is nothing where no rollout counts", () => {
        expect(spreadOf(Float32Array.from([NaN]), 1, 1)).toEqual({ mean: [null], low: [null], high: [null] });
    });
});

describe("names", () => {
    const named = (...names: string[]) => runNames({ runs: names.map((name) => ({ name })) } as unknown as Report);
    it("are as short as they can be while they differ", () => {
        expect(named("out/a", "out/b")).toEqual(["a", "b"]);
        expect(named("x/run", "y/run/")).toEqual(["x/run", "y/run"]);
        expect(named("run", "run")).toEqual(["run", "run"]);
        expect(fileName("a/b.h5")).toBe("b.h5");
    });
});

describe("the headline", () => {
    const words = (error: number, homogeneous: number | undefined, still: number, follows: number) => {
        const summary = (mean: number) => ({ mean, std: 0, per_rollout: [mean] });
        const motion = {
            seen: false,
            runs: [{ ...summary(error), homogeneous: homogeneous === undefined ? undefined : summary(homogeneous) }],
            baselines: { nothing_moves: summary(still), first_shape_follows: summary(follows) },
        };
        const runs = [{ name: "run", cloth: { grid: [4, 5], particles: 20 } }];
        return headline({ runs, motion } as unknown as Report).join("");
    };
    it("says what was learned, how well, and against what", () => {
        expect(words(0.01, 0.05, 1, 2)).toBe(
            "The learned cloth of 4 × 5 particles follows motion it has never seen to 10 mm, 5.0 times closer than the best homogeneous network",
        );
    });
    it("never praises what loses to a baseline", () => {
        expect(words(0.09, undefined, 0.1, 0.07)).toContain("no better than its first shape moved with its handles");
        expect(words(0.09, 0.5, 0.08, 0.2)).toContain("no better than a cloth that does not move");
        expect(words(0.05, 0.04, 1, 1)).toContain("worse than the best homogeneous network");
    });
    it("keeps large factors plain", () => {
        expect(words(1e-9, undefined, 1, 2)).toContain("more than 1000 times closer than a cloth that does not move");
    });
});

describe("range of an axis", () => {
    it("has room around finite values, and begins at zero where that is near", () => {
        expect(rangeOf([Float32Array.from([10, 100, NaN, Infinity])])).toEqual([0, expect.closeTo(105.4, 4)]);
        expect(rangeOf([Float32Array.from([90, 100])])[0]).toBeCloseTo(89.4, 4);
        expect(rangeOf([new Float32Array()])).toEqual([0, 1]);
    });
});
