import { expect, test } from "vitest";
import { Colors, coloringsOf, roundUp, stiffnessMap } from "../../src/live/coloring";
import { gridJson } from "./cloths";
import { builtEngine } from "./modules";

test("scales end at round numbers", () => {
    expect([0.7, 1, 1.01, 2.5, 5, 60].map(roundUp)).toEqual([1, 1, 2, 5, 5, 100]);
    expect(roundUp(0)).toBe(1);
});

test("every colouring of a cloth has values and a scale", async () => {
    const cloth = (await builtEngine("vectors")).open(gridJson(5, 30, 0.05), "sheet");
    cloth.hold([0]);
    cloth.advance(20);
    expect(stiffnessMap(cloth)).toBe("stretch");
    for (const { id, label } of coloringsOf(cloth)) {
        const colors = new Colors(id);
        colors.read(cloth, new Float32Array(25));
        expect(colors.values.length, label).toBe(25);
        expect(colors.scale.high, label).toBeGreaterThan(colors.scale.low);
        expect(colors.scale.caption).not.toBe("");
    }
    const colors = new Colors("stretch");
    colors.read(cloth, new Float32Array(25));
    expect([...colors.values]).toEqual(new Array(25).fill(30));
    expect(colors.scale.unit).toBe("N/m");
});

test("strain is the change of length in percent", async () => {
    const cloth = (await builtEngine("vectors")).open(gridJson(2, 30, 0.05), "sheet");
    cloth.setFrame(1 / 60, 10);
    for (const [particle, x, z] of [[0, -1, -0.5], [1, 1, -0.5], [2, -1, 0.5], [3, 1, 0.5]]) {
        cloth.move(cloth.hold([particle])!, [x, 0, z]);
    }
    cloth.advance();
    const colors = new Colors("strain");
    colors.read(cloth, new Float32Array(4));
    // Twice as long along u, the same along v; the edge across the cell from 2^(1/2) to 5^(1/2).
    const across = 100 * (Math.sqrt(5 / 2) - 1);
    for (const value of colors.values) {
        const expected = [(100 + 0) / 2, (100 + 0 + across) / 3];
        expect(Math.min(...expected.map((one) => Math.abs(one - value)))).toBeLessThan(1e-3);
    }
});
