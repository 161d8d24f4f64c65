// What the colours of the cloth mean.

import { diverging, scaleOver, type Scale, sequential } from "../shared/colors";
import type { LiveCloth } from "./wasm";

export interface Coloring {
    id: string;
    label: string;
}

const WIDE = 20; // ratio of highest to lowest from which on a scale is logarithmic

const WORDS: Record<string, string> = {
    stretch: "stiffness against stretch",
    shear: "stiffness against shear",
    bend: "stiffness against bending",
    warp: "along the length",
    weft: "along the width",
    damping: "damping of",
};

// stretch_warp becomes words.
function wordsOf(name: string): string {
    const damping = name.startsWith("damping_");
    const parts = (damping ? name.slice(8) : name).split("_");
    const words = parts.map((part) => WORDS[part] ?? part).join(" ");
    return damping ? `damping: ${words.replace("stiffness against ", "")}` : words;
}

export function coloringsOf(cloth: LiveCloth): Coloring[] {
    const maps = cloth.maps().map(({ name }) => ({ id: name, label: wordsOf(name) }));
    return [
        { id: "strain", label: "strain now" },
        { id: "speed", label: "speed now" },
        ...maps,
        { id: "paint", label: "paint: factor on stiffness" },
    ];
}

// The map that paint shows in, first of what there is.
export function stiffnessMap(cloth: LiveCloth): string {
    const names = cloth.maps().map(({ name }) => name);
    return ["stretch", "shear_stiffness", "area_stiffness"].find((name) => names.includes(name)) ?? names[0] ?? "strain";
}

const STEPS = [1, 2, 5];

// The smallest of 1, 2, 5, 10 ... at or above a number.
export function roundUp(value: number): number {
    if (!(value > 0)) return 1;
    const power = 10 ** Math.floor(Math.log10(value));
    for (const step of STEPS) if (step * power >= value * (1 - 1e-9)) return step * power;
    return 10 * power;
}

// A high value that ignores a few extreme particles.
function high(values: Float32Array): number {
    const sorted = values.map(Math.abs).sort();
    return sorted[Math.floor(0.98 * (sorted.length - 1))];
}

export class Colors {
    scale: Scale = { caption: "", unit: "", low: 0, high: 1, map: sequential };
    values: Float32Array = new Float32Array();
    private peak = 0;

    constructor(private id: string) {}

    get moves(): boolean {
        return this.id === "strain" || this.id === "speed";
    }

    choose(id: string): void {
        this.id = id;
        this.peak = 0;
    }
    get chosen(): string {
        return this.id;
    }

    // Reads the values. `paint` is the logarithm of the factors.
    read(cloth: LiveCloth, paint: Float32Array): void {
        if (this.id === "strain") {
            this.values = cloth.strain().map((share) => 100 * share);
            const reach = this.reach(0.1);
            this.scale = { caption: "strain", unit: "%", low: -reach, high: reach, map: diverging };
        } else if (this.id === "speed") {
            this.values = cloth.speed().slice();
            this.scale = { caption: "speed", unit: "m/s", low: 0, high: this.reach(0.1), map: sequential };
        } else if (this.id === "paint") {
            this.values = paint.map(Math.exp);
            const most = Math.max(2, roundUp(Math.exp(high(paint))));
            this.scale = { caption: "factor", unit: "", low: 1 / most, high: most, logarithmic: true, map: diverging };
        } else {
            this.readMap(cloth);
        }
    }

    private readMap(cloth: LiveCloth): void {
        const maps = cloth.maps();
        const index = Math.max(0, maps.findIndex(({ name }) => name === this.id));
        this.values = cloth.map(index).slice();
        const words = { caption: wordsOf(maps[index].name), unit: maps[index].unit };
        const scale = scaleOver(this.values, words, sequential);
        const wide = scale.low > 0 && scale.high / scale.low > WIDE;
        this.scale = wide ? { ...scale, logarithmic: true } : scale;
    }

    // Follows quickly upwards and slowly downwards, in round steps.
    private reach(least: number): number {
        this.peak = Math.max(high(this.values), 0.995 * this.peak, least);
        return roundUp(this.peak);
    }
}
