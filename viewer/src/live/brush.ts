// A brush on the flat sheet. Paint is the logarithm of a factor on the stiffness, one per particle.

export type BrushKind = "stiffer" | "softer" | "restore";

export const MOST_FACTOR = 50; // paint stays between this and its inverse

export interface Brush {
    kind: BrushKind;
    radius: number; // in the flat sheet [m]
    strength: number; // of one dab: 1 doubles or halves the stiffness in its middle
}

// From 1 in the middle to 0 at the rim.
export function brushWeight(share: number): number {
    return share >= 1 ? 0 : (1 - share * share) ** 2;
}

function dabbed(paint: number, weight: number, brush: Brush): number {
    if (brush.kind === "restore") return paint * (1 - Math.min(1, weight * brush.strength));
    const sign = brush.kind === "stiffer" ? 1 : -1;
    const limit = Math.log(MOST_FACTOR);
    return Math.min(limit, Math.max(-limit, paint + sign * weight * brush.strength * Math.LN2));
}

// Dabs at a point of the sheet. Returns how many particles it reached.
export function dab(paint: Float32Array, rest: Float32Array, u: number, v: number, brush: Brush): number {
    let reached = 0;
    for (let p = 0; p < paint.length; ++p) {
        const weight = brushWeight(Math.hypot(rest[2 * p] - u, rest[2 * p + 1] - v) / brush.radius);
        if (weight === 0) continue;
        paint[p] = dabbed(paint[p], weight, brush);
        ++reached;
    }
    return reached;
}

// The same everywhere.
export function fill(paint: Float32Array, brush: Brush): void {
    for (let p = 0; p < paint.length; ++p) paint[p] = dabbed(paint[p], 1, brush);
}

export function factors(paint: Float32Array): Float32Array {
    return paint.map((value) => Math.exp(value));
}
