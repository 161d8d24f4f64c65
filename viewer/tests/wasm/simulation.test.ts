// The simulation as a WebAssembly module against the closed forms of the discrete scheme, as the
// native backends are tested (tests/stepper_test.cpp). It computes in float.
import { describe, expect, test } from "vitest";
import type { LiveCloth, Vector } from "../../src/live/wasm";
import { hasVectors, SimulationError } from "../../src/live/wasm";
import { clothJson, gridJson } from "./cloths";
import { builtEngine, MODULES } from "./modules";

const EPSILON = 2 ** -23;
const STILL = { gravity: [0, 0, 0] as Vector, wind: [0, 0, 0] as Vector, drag: 0 };

function center(cloth: LiveCloth): Vector {
    const positions = cloth.positions();
    const sum: Vector = [0, 0, 0];
    for (let i = 0; i < positions.length; ++i) sum[i % 3] += positions[i];
    return sum.map((value) => value / cloth.particleCount) as Vector;
}

test("the module with vectors is only for browsers that have them", async () => {
    expect(hasVectors()).toBe(true); // Node 18 has them
});

describe.each(MODULES)("module %s", async (module) => {
    const engine = await builtEngine(module);

    test("free fall follows symplectic Euler", () => {
        const cloth = engine.open(gridJson(4, 50, 0.1), "sheet");
        const [g, h, n] = [-9.81, 1 / 240, 480];
        cloth.setFrame(h, 1);
        cloth.setAir({ ...STILL, gravity: [0, g, 0] });
        for (let i = 0; i < n; ++i) cloth.advance();
        // v_n = n g h, so y_n = g h^2 n (n + 1) / 2. Every step rounds position and velocity.
        const expected = (g * h * h * n * (n + 1)) / 2;
        const tolerance = n * EPSILON * Math.abs(expected);
        for (let p = 0; p < cloth.particleCount; ++p) {
            expect(Math.abs(cloth.positions()[3 * p + 1] - expected)).toBeLessThan(tolerance);
        }
        expect(cloth.time).toBeCloseTo(n * h, 12);
    });

    test("fall in air follows its geometric series", () => {
        const cloth = engine.open(gridJson(3, 50, 0.1), "sheet");
        const [g, c, w, h, n] = [-9.81, 0.8, 2, 1 / 200, 400];
        cloth.setFrame(h, 1);
        cloth.setAir({ gravity: [0, g, 0], wind: [w, 0, 0], drag: c });
        const before = center(cloth);
        cloth.advance(n);
        // v_{n+1} = v_n + h (a - c v_n) with a = g, or c w along the wind: v_n = a/c (1 - q^n) with
        // q = 1 - h c, and x_n = h (v_1 + ... + v_n) = h a/c (n - q (1 - q^n) / (1 - q)).
        const q = 1 - h * c;
        const way = (a: number) => ((h * a) / c) * (n - (q * (1 - q ** n)) / (1 - q));
        const after = center(cloth);
        expect(after[1] - before[1]).toBeCloseTo(way(g), 3);
        expect(Math.abs(after[1] - before[1] - way(g))).toBeLessThan(n * EPSILON * Math.abs(way(g)));
        expect(Math.abs(after[0] - before[0] - way(c * w))).toBeLessThan(n * EPSILON * way(c * w));
    });

    test("an oscillator follows the discrete closed form", () => {
        const [k, b, m, g, h, n] = [40, 0.2, 0.1, 3, 1 / 500, 1000];
        const spring = { ends: [0, 1] as [number, number], restLength: 1, stiffness: k, damping: b };
        const cloth = engine.open(clothJson([[0, 0], [1, 0]], [spring], m), "oscillator");
        cloth.setFrame(h, 1);
        cloth.setAir({ ...STILL, gravity: [g, 0, 0] }); // along the spring, which then stays straight
        cloth.hold([0]);
        const start = cloth.positions()[3];
        cloth.advance(n);
        // s_{n+1} = (2 - h b/m - h^2 k/m) s_n - (1 - h b/m) s_{n-1} + h^2 g for the stretch s, with
        // s_0 = 0 and s_1 = h^2 g: s_n = s (1 - r^n (cos nt + B sin nt)) about the rest s = g m / k.
        const r = Math.sqrt(1 - (h * b) / m);
        const t = Math.acos((2 - (h * b) / m - (h * h * k) / m) / (2 * r));
        const rest = (g * m) / k;
        const B = ((1 - (h * h * g) / rest) / r - Math.cos(t)) / Math.sin(t);
        const expected = rest * (1 - r ** n * (Math.cos(n * t) + B * Math.sin(n * t)));
        // A stretch is the difference of lengths of about 1, whose rounding excites the spring anew in
        // every step: a random walk of sqrt(n) roundings, each at most of a unit in the last place.
        expect(Math.abs(cloth.positions()[3] - start - expected)).toBeLessThan(10 * Math.sqrt(n) * EPSILON);
    });

    test("what flies freely keeps its momentum", () => {
        const cloth = engine.open(gridJson(8, 30, 0.05), "sheet");
        cloth.setFrame(1 / 500, 1);
        cloth.setAir(STILL);
        const hold = cloth.hold([0])!;
        for (let i = 1; i <= 50; ++i) cloth.move(hold, [-0.5 - 0.01 * i, 0.01 * i, -0.5]), cloth.advance();
        cloth.release(hold);
        // All masses are the same, so the centre moves evenly.
        const [a, b, c] = [0, 1, 2].map(() => (cloth.advance(100), center(cloth)));
        expect(Math.hypot(b[0] - a[0], b[1] - a[1])).toBeGreaterThan(1e-3);
        for (const axis of [0, 1, 2]) {
            expect(Math.abs(c[axis] - 2 * b[axis] + a[axis])).toBeLessThan(100 * EPSILON);
        }
    });

    test("a held particle goes where it is led, and not elsewhere", () => {
        const cloth = engine.open(gridJson(6, 30, 0.05), "sheet");
        const hold = cloth.hold([7])!;
        expect(cloth.isHeld(7)).toBe(true);
        expect(cloth.hold([7])).toBeUndefined();
        cloth.move(hold, [0.25, 0.5, -0.125]);
        cloth.advance();
        expect([...cloth.positions().subarray(21, 24)]).toEqual([0.25, 0.5, -0.125]);
        cloth.advance(10);
        expect([...cloth.positions().subarray(21, 24)]).toEqual([0.25, 0.5, -0.125]);
        cloth.release(hold);
        cloth.advance(10);
        expect(cloth.positions()[22]).toBeLessThan(0.5);
    });

    test("paint multiplies stiffness by the geometric mean of its ends", () => {
        const cloth = engine.open(gridJson(3, 30, 0.05), "sheet");
        const factors = new Float32Array(9).fill(1);
        factors[0] = 4;
        cloth.paint(factors);
        const painted = JSON.parse(cloth.json());
        painted.springs.ends.forEach(([a, b]: number[], s: number) => {
            expect(painted.springs.stiffness[s]).toBeCloseTo(a === 0 || b === 0 ? 60 : 30, 5);
        });
        cloth.paint(new Float32Array(9).fill(1));
        expect(JSON.parse(cloth.json()).springs.stiffness).toEqual(new Array(12).fill(30));
    });

    test("a change in the middle of a run goes on from where it is", () => {
        const cloth = engine.open(gridJson(5, 30, 0.05), "sheet");
        cloth.hold([0]);
        cloth.advance(20);
        const before = [...cloth.positions()];
        cloth.paint(new Float32Array(25).fill(2));
        cloth.setFrame(1 / 60, 64);
        expect([...cloth.positions()]).toEqual(before);
        expect(cloth.isHeld(0)).toBe(true);
    });

    test("a cloth stays on the sphere that it was dropped on", () => {
        const cloth = engine.open(gridJson(12, 30, 0.05), "sheet");
        cloth.setObstacle("sphere");
        const { points, triangles } = cloth.obstacleSurface();
        expect(triangles.reduce((a, b) => Math.max(a, b))).toBe(points.length / 3 - 1);
        let top = -1;
        for (let i = 1; i < points.length; i += 3) top = Math.max(top, points[i]);
        cloth.advance(30);
        // The sphere has the radius 0.25, and its middle is as far below its top.
        for (let p = 0; p < cloth.particleCount; ++p) {
            const [x, y, z] = cloth.positions().subarray(3 * p, 3 * p + 3);
            expect(Math.hypot(x, y - (top - 0.25), z)).toBeGreaterThan(0.249);
        }
    });

    test("a mesh of one's own is an obstacle, and a broken one is refused", () => {
        const cloth = engine.open(gridJson(6, 30, 0.05), "sheet");
        const mesh = (faces: string) =>
            new TextEncoder().encode(`v 0 0 0\nv 1 0 0\nv 0 0 -1\nv 0 1e0 0\n${faces}`);
        expect(() => cloth.setObstacleMesh(mesh(""), "empty.obj")).toThrow(/empty\.obj.*no faces/);
        expect(() => cloth.setObstacleMesh(mesh("f 1 2 3"), "open.obj")).toThrow(/open\.obj/);
        expect(() => cloth.setObstacleMesh(new TextEncoder().encode("v 0 x 0"), "bad.obj")).toThrow(/bad\.obj:1.*'x'/);
        expect(cloth.obstacleSurface().triangles.length).toBe(0);
        cloth.setObstacleMesh(mesh("f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"), "pyramid.obj");
        expect(cloth.obstacleSurface().triangles.length).toBeGreaterThan(100);
    });

    test("a step that is too long is reported and changes nothing", () => {
        const cloth = engine.open(gridJson(5, 5000, 0), "stiff");
        cloth.hold([0]);
        cloth.setFrame(1 / 60, 1);
        const advance = () => { for (let i = 0; i < 200; ++i) cloth.advance(); };
        expect(advance).toThrow(SimulationError);
        expect([...cloth.positions()].every(Number.isFinite)).toBe(true);
        cloth.setFrame(1 / 60);
        cloth.reset();
        expect(advance).not.toThrow();
    });

    test("damaged files and hostile names give a message", () => {
        expect(() => engine.open("", "nothing")).toThrow(/nothing: is empty/);
        expect(() => engine.open("{", "<script>")).toThrow(/^<script>: is not JSON/);
        expect(() => engine.open('{"format": "other"}', "a\0b")).toThrow(/a\?b: JSON without/);
        const cut = gridJson(4, 30, 0.05).slice(0, 300);
        expect(() => engine.open(cut, "cut.json")).toThrow(/cut\.json/);
    });
});
