// Motion RMSE over time, with the spread over rollouts.

import type { Payload } from "../shared/payload";
import { withUnit } from "../shared/colors";
import { chartElement, type Curve } from "./charts";
import { section } from "./figure";
import { homogeneousCount, homogeneousOwner, runNames, type Report } from "./model";

interface Spread {
    mean: (number | null)[];
    low: (number | null)[];
    high: (number | null)[];
}

// Mean, least and greatest over the rollouts that reach a frame.
export function spreadOf(values: Float32Array, rollouts: number, frames: number): Spread {
    const spread: Spread = { mean: [], low: [], high: [] };
    for (let f = 0; f < frames; ++f) {
        const column: number[] = [];
        for (let r = 0; r < rollouts; ++r) {
            const value = values[r * frames + f];
            if (Number.isFinite(value)) column.push(value);
        }
        const some = column.length > 0;
        spread.mean.push(some ? column.reduce((a, b) => a + b, 0) / column.length : null);
        spread.low.push(some ? Math.min(...column) : null);
        spread.high.push(some ? Math.max(...column) : null);
    }
    return spread;
}

export function errorSection(payload: Payload, report: Report): HTMLElement | undefined {
    const motion = report.motion;
    if (!motion) return undefined;
    const names = runNames(report);
    const curves: Curve[] = [];
    let frames = 0;
    const add = (array: string | undefined, label: string, color: number, extra: Partial<Curve> = {}) => {
        if (!array) return;
        const [rollouts, count] = payload.shape(array);
        frames = Math.max(frames, count);
        const { mean, low, high } = spreadOf(payload.f32(array), rollouts, count);
        const band = rollouts > 1 && !extra.dashed ? { low, high } : {};
        curves.push({ label, color, values: mean, ...band, ...extra });
    };
    motion.runs.forEach((run, r) => {
        const many = motion.runs.length > 1;
        add(run.by_frame, many ? names[r] : "learned cloth", 1 + (r % 6));
        if (homogeneousOwner(motion, r) !== r) return;
        const several = homogeneousCount(motion) > 1;
        const label = several ? `${names[r]}, homogeneous` : "best homogeneous network";
        add(run.homogeneous?.by_frame, label, several ? 1 + (r % 6) : many ? 7 : 2, { dashed: true });
    });
    if (curves.length === 0) return undefined;
    const count = motion.chosen.length;
    const made = section(
        "Error over time",
        `Root-mean-square distance between the cloth and the observed points that nobody holds. ` +
            (count > 1 ? `Lines are means over ${count} rollouts; the band spans the best and the worst of them.` : ""),
        "errors",
    );
    const worst = Math.max(...curves[0].values.map((value) => value ?? 0));
    made.append(
        chartElement({
            label: `Motion RMSE over time; the mean of ${curves[0].label} is at most ${withUnit(worst, "m")}`,
            across: "time [s]",
            up: "motion RMSE",
            upUnit: "m",
            x: Array.from({ length: frames }, (_, f) => f * motion.curve_interval),
            curves,
            logarithmic: true,
        }),
    );
    return made;
}
