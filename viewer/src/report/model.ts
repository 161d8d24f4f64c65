// What a report holds (src/web/report.cpp), typed.

import type { Payload } from "../shared/payload";

export interface ErrorSummary {
    mean: number | null; // [m]
    std: number | null;
    per_rollout: (number | null)[];
    by_frame?: string; // name of an array [rollout][frame]
}

export interface Field {
    name: string;
    label: string;
    unit: string;
    element: string;
    damping: boolean;
    values: string;
    relative_error?: string;
    truth?: string;
}

export interface ElementSet {
    corners: string;
    family?: string;
    families: string[];
}

export interface ClothData {
    prefix: string;
    particles: number;
    length: number;
    width: number;
    mass: number;
    grid?: [number, number];
    elements: Record<string, ElementSet>;
    fields: Field[];
    cells?: { rows: number; cols: number; values: string; truth: string; correlation?: number | null } | null;
}

export interface ParameterError {
    name: string;
    label: string;
    element: string;
    unit: string;
    rmse: number | null;
    relative: number | null;
}

export interface LearnStep {
    validation_rmse: number | null;
    by_rollout?: (number | null)[];
    seconds: number | null;
}

// Of result.json; a file of an older version may lack any of it.
export interface TrainResult {
    method?: string;
    summary?: string;
    validation_rmse?: number | null;
    homogeneous_validation_rmse?: number | null;
    nothing_moves_rmse?: number | null;
    steps?: Record<string, LearnStep>;
    iterations?: number;
    training_seconds?: number | null;
    longest_step?: number | null;
    identification?: { median_error?: Record<string, Record<string, number | null>> };
}

export interface RunData {
    name: string;
    cloth_file: string;
    cloth: ClothData;
    result: TrainResult | null;
    log: { iteration: string; rows: number; columns: Record<string, string> } | null;
    parameter_errors: ParameterError[];
    homogeneous_parameter_errors?: ParameterError[];
}

export interface MotionRun extends Partial<ErrorSummary> {
    substeps?: number;
    homogeneous?: ErrorSummary;
}

export interface MotionData {
    name: string;
    seen: boolean;
    rollouts: number;
    chosen: number[];
    frame_interval: number;
    curve_interval: number;
    landmarks: number;
    captured: boolean;
    frames: number;
    baselines: Record<"nothing_moves" | "first_shape_follows", ErrorSummary>;
    runs: MotionRun[];
}

export interface SceneData {
    rollout: number;
    frames: number[];
    all_frames: number;
    low: [number, number, number];
    high: [number, number, number];
    held: number[];
    source: string;
    runs: (string | null)[];
}

export interface Published {
    what: string;
    published: number | null;
    ours: number | null;
    unit: string;
    source: string;
}

export interface Report {
    version: string;
    runs: RunData[];
    truth?: ClothData;
    truth_at_landmarks?: boolean;
    motion?: MotionData;
    scenes?: SceneData[];
    published?: Published[];
    remarks: string[];
}

export function reportOf(payload: Payload): Report {
    return payload.header as unknown as Report;
}

// The name of a run for people: as short as it can be while all names differ.
export function runNames(report: Report): string[] {
    const parts = report.runs.map((run) => run.name.split("/").filter((part) => part !== ""));
    const short = (count: number) => parts.map((part) => part.slice(-count).join("/"));
    for (let count = 1; count < 6; ++count) {
        const names = short(count);
        if (new Set(names).size === names.length) return names;
    }
    return report.runs.map((run) => run.name);
}

// The last part of a path.
export function fileName(path: string): string {
    return path.split("/").filter((part) => part !== "").pop() ?? path;
}

// Nothing for null, which stands for what is not finite.
export function finite(value: number | null | undefined): number | undefined {
    return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

// Mean of the values of a field at every particle: of springs that are not bending springs, or of
// any other element.
export function atParticles(payload: Payload, cloth: ClothData, field: Field): Float32Array {
    const set = cloth.elements[field.element];
    const corners = payload.u32(set.corners);
    const width = payload.shape(set.corners)[1];
    const values = payload.f32(field.values);
    const bending = set.families.indexOf("bending");
    const family = set.family && bending >= 0 ? payload.u8(set.family) : undefined;
    const sum = new Float64Array(cloth.particles);
    const count = new Float64Array(cloth.particles);
    for (let e = 0; e < values.length; ++e) {
        if (family && family[e] === bending) continue;
        for (let c = 0; c < width; ++c) {
            sum[corners[e * width + c]] += values[e];
            count[corners[e * width + c]] += 1;
        }
    }
    return Float32Array.from(sum, (value, i) => value / count[i]);
}

// What is shown first: the stiffness of springs, or of triangles against shear.
export function mainField(cloth: ClothData): Field | undefined {
    return cloth.fields.find((field) => field.name === "stiffness") ?? cloth.fields[0];
}

// The first run with the same homogeneous network: runs on one motion often share it.
export function homogeneousOwner(motion: MotionData, run: number): number {
    const own = motion.runs[run].homogeneous;
    return motion.runs.findIndex(({ homogeneous }) => homogeneous?.mean === own?.mean && homogeneous?.std === own?.std);
}

export function homogeneousCount(motion: MotionData): number {
    return motion.runs.filter((run, r) => run.homogeneous && homogeneousOwner(motion, r) === r).length;
}
