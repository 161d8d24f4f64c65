import { expect, test } from "vitest";
import { type Brush, brushWeight, dab, factors, fill, MOST_FACTOR } from "../src/live/brush";

const STIFFER: Brush = { kind: "stiffer", radius: 0.5, strength: 1 };
const REST = Float32Array.from([0, 0, 0.25, 0, 0.5, 0, 3, 3]);

test("the weight of a brush falls from its middle to nothing at its rim", () => {
    expect(brushWeight(0)).toBe(1);
    expect(brushWeight(1)).toBe(0);
    expect(brushWeight(0.5)).toBeGreaterThan(brushWeight(0.6));
});

test("a dab of strength one doubles the stiffness in its middle and leaves the rest", () => {
    const paint = new Float32Array(4);
    expect(dab(paint, REST, 0, 0, STIFFER)).toBe(2);
    const [middle, near, rim, far] = factors(paint);
    expect(middle).toBeCloseTo(2, 6);
    expect(near).toBeCloseTo(2 ** (0.75 ** 2), 6);
    expect([rim, far]).toEqual([1, 1]);
});

test("softer undoes stiffer, and restore leads back", () => {
    const paint = new Float32Array(4);
    dab(paint, REST, 0, 0, STIFFER);
    dab(paint, REST, 0, 0, { ...STIFFER, kind: "softer" });
    expect(Math.max(...paint.map(Math.abs))).toBeLessThan(1e-7);
    fill(paint, STIFFER);
    fill(paint, { ...STIFFER, kind: "restore" });
    expect([...factors(paint)]).toEqual([1, 1, 1, 1]);
});

test("paint has limits", () => {
    const paint = new Float32Array(4);
    for (let i = 0; i < 50; ++i) fill(paint, STIFFER);
    for (const factor of factors(paint)) expect(factor).toBeCloseTo(MOST_FACTOR, 3);
});
