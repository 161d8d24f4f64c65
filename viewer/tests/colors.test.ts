import { describe, expect, it } from "vitest";
import {
    colorOf,
    diverging,
    luminance,
    plainNumber,
    roundNumbers,
    scaleOver,
    scaleTicks,
    sequential,
    shareOf,
    UNKNOWN_COLOR,
    valueAt,
    withUnit,
    worsening,
    type Rgb,
} from "../src/shared/colors";

const shares = Array.from({ length: 65 }, (_, i) => i / 64);

// Deuteranopia and protanopia in linear light: Viénot, Brettel and Mollon 1999.
const SEEN: Record<string, number[][]> = {
    deuteranopia: [
        [0.29275, 0.70725, 0],
        [0.29275, 0.70725, 0],
        [-0.02234, 0.02234, 1],
    ],
    protanopia: [
        [0.11238, 0.88762, 0],
        [0.11238, 0.88762, 0],
        [0.00401, -0.00401, 1],
    ],
};
const toLinear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const seenLuminance = (matrix: number[][], color: Rgb) => {
    const [r, g, b] = matrix.map((row) => row.reduce((sum, m, i) => sum + m * toLinear(color[i]), 0));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const steps = (values: number[]) => values.slice(1).map((value, i) => value - values[i]);

describe("colour maps", () => {
    it("rise in luminance all the way, or fall", () => {
        expect(Math.min(...steps(shares.map((s) => luminance(sequential(s)))))).toBeGreaterThan(0);
        expect(Math.max(...steps(shares.map((s) => luminance(worsening(s)))))).toBeLessThan(0);
    });

    it.each(Object.keys(SEEN))("keep their order for eyes with %s", (kind) => {
        const lightness = shares.map((s) => seenLuminance(SEEN[kind], sequential(s)));
        expect(Math.min(...steps(lightness))).toBeGreaterThan(0);
    });

    it("is lightest in the middle where it diverges", () => {
        const values = shares.map((s) => luminance(diverging(s)));
        expect(values.indexOf(Math.max(...values))).toBe(32);
        expect(Math.min(...steps(values.slice(0, 33)))).toBeGreaterThan(0);
        expect(Math.max(...steps(values.slice(32)))).toBeLessThan(0);
    });

    it("stay at their ends outside", () => {
        expect(sequential(-1)).toEqual(sequential(0));
        expect(sequential(2)).toEqual(sequential(1));
    });
});

describe("scales", () => {
    const words = { caption: "stiffness", unit: "N/m" };

    it("span the finite values", () => {
        const scale = scaleOver([4, NaN, 2, Infinity, 10], words);
        expect([scale.low, scale.high]).toEqual([2, 10]);
        expect(shareOf(scale, 6)).toBe(0.5);
        expect(colorOf(scale, NaN)).toEqual(UNKNOWN_COLOR);
    });

    it("put a single value into the middle of a range from zero", () => {
        const scale = scaleOver([5, 5, 5 + 1e-10], words);
        expect([scale.low, shareOf(scale, 5)]).toEqual([0, expect.closeTo(0.5, 9)]);
    });

    it("go there and back, logarithmic too", () => {
        for (const logarithmic of [false, true]) {
            const scale = { ...words, low: 0.1, high: 1000, logarithmic, map: sequential };
            for (const share of [0, 0.3, 1]) expect(shareOf(scale, valueAt(scale, share))).toBeCloseTo(share, 12);
        }
        expect(scaleTicks({ ...words, low: 0.1, high: 100, logarithmic: true, map: sequential })).toEqual([
            0.1, 1, 10, 100,
        ]);
    });

    it("have both ends and round ticks that leave them room", () => {
        expect(scaleTicks({ ...words, low: 23, high: 101, map: sequential })).toEqual([23, 40, 60, 80, 101]);
        expect(scaleTicks({ ...words, low: 38, high: 101, map: sequential })).toEqual([38, 60, 80, 101]);
    });

    it("have round numbers inside", () => {
        expect(roundNumbers(0, 100, 5)).toEqual([0, 20, 40, 60, 80, 100]);
        expect(roundNumbers(23, 101, 4)).toEqual([40, 60, 80, 100]);
        expect(roundNumbers(5, 5, 4)).toEqual([5]);
    });
});

describe("numbers with units", () => {
    it.each([
        [0.00213, "m", "2.13 mm"],
        [2.5, "m", "2.5 m"],
        [1234.5, "N/m", "1230 N/m"],
        [0, "m", "0 m"],
        [NaN, "m", "unknown"],
        [-0.004, "s", "-4 ms"],
        [1e-12, "m", "0.001 nm"],
    ])("%d %s is %s", (value, unit, text) => {
        expect(withUnit(value, unit)).toBe(text);
    });

    it("use powers of ten where they are shorter", () => {
        expect(plainNumber(1.23e-7)).toBe("1.23×10⁻⁷");
        expect(plainNumber(0.25)).toBe("0.25");
    });
});
