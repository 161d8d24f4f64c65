// Positions of one scene, as the program rounded them: 16 bits between the corners of a box.

import type { Payload } from "../shared/payload";
import type { SceneData } from "./model";

const UNKNOWN = 0xffff;
const STEPS = 0xfffe;

export class Track {
    readonly points: number;
    private readonly numbers: Uint16Array;

    constructor(
        payload: Payload,
        array: string,
        private readonly scene: SceneData,
    ) {
        this.numbers = payload.u16(array);
        this.points = payload.shape(array)[1];
    }

    // Positions at a frame of the page, or between two; NaN where a point was not seen.
    at(frame: number, into: Float32Array = new Float32Array(3 * this.points)): Float32Array {
        const last = this.scene.frames.length - 1;
        const before = Math.min(Math.max(Math.floor(frame), 0), last);
        const after = Math.min(before + 1, last);
        const part = Math.min(Math.max(frame - before, 0), 1);
        const size = 3 * this.points;
        for (let i = 0; i < size; ++i) {
            const [from, to] = [this.numbers[before * size + i], this.numbers[after * size + i]];
            const axis = i % 3;
            const low = this.scene.low[axis];
            const step = (this.scene.high[axis] - low) / STEPS;
            const unknown = from === UNKNOWN || (part > 0 && to === UNKNOWN);
            into[i] = unknown ? NaN : low + step * (from + (to - from) * part);
        }
        return into;
    }
}

// Distance of every particle from the observed points that it should follow.
export function distances(
    positions: Float32Array,
    source: Float32Array,
    index: Uint32Array,
    weight: Float32Array,
): Float32Array {
    const made = new Float32Array(positions.length / 3);
    for (let p = 0; p < made.length; ++p) {
        let sum = 0;
        for (let axis = 0; axis < 3; ++axis) {
            let target = 0;
            for (let k = 4 * p; k < 4 * p + 4; ++k) {
                if (weight[k] !== 0) target += weight[k] * source[3 * index[k] + axis];
            }
            sum += (positions[3 * p + axis] - target) ** 2;
        }
        made[p] = Math.sqrt(sum);
    }
    return made;
}

// Pairs of points that an edge of the surface, or of the curve, joins; each once.
export function edgesOf(triangles: Uint32Array, curve: Uint32Array): Uint32Array {
    const seen = new Set<string>();
    const edges: number[] = [];
    const add = (a: number, b: number) => {
        const key = a < b ? `${a},${b}` : `${b},${a}`;
        if (seen.has(key)) return;
        seen.add(key);
        edges.push(a, b);
    };
    for (let t = 0; t < triangles.length; t += 3) {
        add(triangles[t], triangles[t + 1]);
        add(triangles[t + 1], triangles[t + 2]);
        add(triangles[t + 2], triangles[t]);
    }
    for (let i = 1; i < curve.length; ++i) add(curve[i - 1], curve[i]);
    return Uint32Array.from(edges);
}

// Mean strain (l - L) / L of the edges at every point.
export function strains(positions: Float32Array, rest: Float32Array, edges: Uint32Array): Float32Array {
    const sum = new Float32Array(positions.length / 3);
    const count = new Float32Array(sum.length);
    for (let e = 0; e < edges.length; e += 2) {
        const [a, b] = [edges[e], edges[e + 1]];
        const flat = Math.hypot(rest[2 * a] - rest[2 * b], rest[2 * a + 1] - rest[2 * b + 1]);
        const long = Math.hypot(
            positions[3 * a] - positions[3 * b],
            positions[3 * a + 1] - positions[3 * b + 1],
            positions[3 * a + 2] - positions[3 * b + 2],
        );
        const strain = (long - flat) / flat;
        if (!Number.isFinite(strain)) continue;
        for (const point of [a, b]) {
            sum[point] += strain;
            count[point] += 1;
        }
    }
    return sum.map((value, i) => (count[i] > 0 ? value / count[i] : NaN));
}
