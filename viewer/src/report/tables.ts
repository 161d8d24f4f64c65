// The headline, the key figures, and the table against baselines.

import { plainNumber, withUnit } from "../shared/colors";
import { element, nameElement } from "../shared/dom";
import { section } from "./figure";
import { fileName, finite, homogeneousCount, homogeneousOwner, runNames, type ErrorSummary, type MotionData, type Report } from "./model";

type Child = Node | string;

function elementsText(report: Report, index: number): string {
    const cloth = report.runs[index].cloth;
    const shape = cloth.grid ? `${cloth.grid[0]} × ${cloth.grid[1]} particles` : `${cloth.particles} particles`;
    return shape;
}

function times(factor: number): string {
    if (factor > 1000) return "more than 1000";
    return factor >= 10 ? factor.toFixed(0) : factor.toFixed(1);
}

// How an error compares, in words: with what needs no learning first, because an answer that loses
// to it is none.
function compared(motion: MotionData, error: number, plain: number | undefined): string {
    const trivial: [number, string][] = [
        [finite(motion.baselines.nothing_moves.mean) ?? Infinity, "a cloth that does not move"],
        [finite(motion.baselines.first_shape_follows.mean) ?? Infinity, "its first shape moved with its handles"],
    ];
    const [least, name] = trivial[0][0] <= trivial[1][0] ? trivial[0] : trivial[1];
    if (error >= least) return `, no better than ${name}`;
    if (plain === undefined) return error > 0 && Number.isFinite(least) ? `, ${times(least / error)} times closer than ${name}` : "";
    const factor = plain / error;
    if (factor >= 1.05) return `, ${times(factor)} times closer than the best homogeneous network`;
    return factor > 0.95 ? ", as close as the best homogeneous network" : ", worse than the best homogeneous network";
}

// The run with the smallest error, or the first.
function bestRun(report: Report): number {
    let best = 0;
    report.motion?.runs.forEach((run, r) => {
        const [ours, theirs] = [finite(run.mean), finite(report.motion!.runs[best].mean)];
        if (ours !== undefined && (theirs === undefined || ours < theirs)) best = r;
    });
    return best;
}

// What was learned, how well, and against what: one sentence.
export function headline(report: Report): Child[] {
    const r = bestRun(report);
    const names = runNames(report);
    const motion = report.motion;
    const run = motion?.runs[r];
    const error = finite(run?.mean);
    const subject: Child[] =
        report.runs.length > 1
            ? ["Of ", String(report.runs.length), " learned cloths, ", nameElement(names[r])]
            : [`The learned cloth of ${elementsText(report, 0)}`];
    if (!motion || error === undefined) return [...subject, ": what was learned"];
    const seen = motion.seen ? "the motion it was learned from" : "motion it has never seen";
    const words: Child[] = [
        ...subject,
        report.runs.length > 1 ? ` follows ${seen} best, to ` : ` follows ${seen} to `,
        withUnit(error, "m"),
    ];
    words.push(compared(motion, error, finite(run?.homogeneous?.mean)));
    return words;
}

function tile(label: string, value: string, detail: Child[] = []): HTMLElement {
    return element(
        "div",
        { class: "tile" },
        element("dt", {}, label),
        element("dd", {}, element("strong", {}, value), element("span", { class: "detail" }, ...detail)),
    );
}

export function keyFigures(report: Report): HTMLElement {
    const r = bestRun(report);
    const run = report.runs[r];
    const motion = report.motion;
    const course = motion?.runs[r];
    const list = element("dl", { class: "tiles" });
    const error = finite(course?.mean);
    const diagonal = Math.hypot(run.cloth.length, run.cloth.width);
    if (error !== undefined) {
        const share = `± ${withUnit(finite(course?.std) ?? NaN, "m")} over frames; ${((100 * error) / diagonal).toPrecision(2)} % of the sheet's diagonal`;
        list.append(tile("Motion RMSE", withUnit(error, "m"), [share]));
    }
    const plain = finite(course?.homogeneous?.mean);
    if (plain !== undefined) list.append(tile("Best homogeneous network", withUnit(plain, "m"), ["one stiffness and one damping per family of springs"]));
    for (const parameter of run.parameter_errors.filter((each) => /stiffness|damping/.test(each.name)).slice(0, 2)) {
        const relative = finite(parameter.relative);
        list.append(
            tile(
                `Error of ${parameter.label}`,
                withUnit(finite(parameter.rmse) ?? NaN, parameter.unit),
                relative === undefined ? ["root mean square"] : [`root mean square; ${plainNumber(100 * relative, 2)} % of the truth`],
            ),
        );
    }
    const correlation = finite(run.cloth.cells?.correlation);
    if (run.parameter_errors.length === 0 && correlation !== undefined) {
        list.append(tile("Correlation of stiffness maps", plainNumber(correlation, 2), ["learned and source, cell by cell"]));
    }
    const seconds = finite(run.result?.training_seconds);
    if (seconds !== undefined) list.append(tile("Learned in", withUnit(seconds, "s"), [`${run.result?.method ?? ""} method`]));
    return list;
}

export function provenance(report: Report): HTMLElement {
    const motion = report.motion;
    const words: Child[] = [];
    if (motion) {
        const part = motion.chosen.length < motion.rollouts ? `${motion.chosen.length} of ${motion.rollouts}` : `${motion.rollouts}`;
        words.push(
            "Compared with ",
            nameElement(fileName(motion.name)),
            `: ${part} rollout${motion.rollouts === 1 ? "" : "s"}, ${motion.frames} frames, ${motion.landmarks} tracked points` +
                (motion.captured ? ", captured." : "."),
        );
        if (motion.seen) words.push(" The cloth may have learned from these rollouts: errors on unseen motion are larger.");
    }
    return element("p", { class: "lead" }, ...words);
}

interface Row {
    name: Child;
    kind: "run" | "baseline";
    error?: ErrorSummary;
    cells: string[];
}

function tableRows(report: Report, columns: string[]): Row[] {
    const names = runNames(report);
    const motion = report.motion;
    const cellsOf = (errors: Report["runs"][0]["parameter_errors"] | undefined) =>
        columns.map((label) => {
            const found = errors?.find((each) => each.label === label);
            return found ? withUnit(finite(found.rmse) ?? NaN, found.unit) : "–";
        });
    const rows: Row[] = [];
    report.runs.forEach((run, r) => {
        const course = motion?.runs[r];
        const error = finite(course?.mean) === undefined ? undefined : (course as ErrorSummary);
        rows.push({ name: nameElement(names[r]), kind: "run", error, cells: cellsOf(run.parameter_errors) });
    });
    report.runs.forEach((run, r) => {
        const plain = motion?.runs[r].homogeneous;
        if (!plain || r !== homogeneousOwner(motion, r)) return;
        const name = element("span", {}, "best homogeneous network");
        if (homogeneousCount(motion) > 1) name.append(" of ", nameElement(names[r]));
        rows.push({ name, kind: "baseline", error: plain, cells: cellsOf(run.homogeneous_parameter_errors) });
    });
    if (motion) {
        const none = columns.map(() => "–");
        rows.push({ name: "first shape moves with its handles", kind: "baseline", error: motion.baselines.first_shape_follows, cells: none });
        rows.push({ name: "nothing moves", kind: "baseline", error: motion.baselines.nothing_moves, cells: none });
    }
    return rows;
}

export function comparison(report: Report): HTMLElement {
    const columns = [...new Set(report.runs.flatMap((run) => run.parameter_errors.map((each) => each.label)))].slice(0, 6);
    const motion = report.motion;
    const body = element("tbody");
    for (const row of tableRows(report, columns)) {
        const rollouts = row.error?.per_rollout.filter((value): value is number => value !== null) ?? [];
        const range = rollouts.length > 0 ? `${withUnit(Math.min(...rollouts), "m")} – ${withUnit(Math.max(...rollouts), "m")}` : "–";
        const mean = finite(row.error?.mean);
        body.append(
            element(
                "tr",
                { class: row.kind },
                element("th", { scope: "row" }, row.name),
                ...(motion
                    ? [
                          element("td", { class: "number" }, mean === undefined ? "–" : withUnit(mean, "m")),
                          element("td", { class: "number" }, mean === undefined ? "–" : `± ${withUnit(finite(row.error?.std) ?? NaN, "m")}`),
                          element("td", { class: "number" }, range),
                      ]
                    : []),
                ...row.cells.map((text) => element("td", { class: "number" }, text)),
            ),
        );
    }
    const head = [
        "cloth",
        ...(motion ? ["motion RMSE", "spread over frames", "best – worst rollout"] : []),
        ...columns.map((label) => `error of ${label}`),
    ].map((text) => element("th", { scope: "col" }, text));
    const made = section(
        "Against baselines",
        motion ? "All on the same rollouts and the same points. Baselines need no learning, or learn one stiffness and one damping per family of springs." : "",
        "comparison",
    );
    made.append(
        element(
            "div",
            { class: "scroll", tabindex: 0, role: "region", "aria-label": "Errors of cloths and baselines" },
            element("table", {}, element("thead", {}, element("tr", {}, ...head)), body),
        ),
    );
    if (report.published?.length) made.append(published(report));
    return made;
}

function published(report: Report): HTMLElement {
    const body = element("tbody");
    for (const row of report.published!) {
        const number = (value: number | null) => {
            const known = finite(value);
            return element("td", { class: "number" }, known === undefined ? "–" : withUnit(known, row.unit));
        };
        body.append(element("tr", {}, element("th", { scope: "row" }, nameElement(row.what)), number(row.ours), number(row.published), element("td", {}, row.source)));
    }
    const head = ["quantity", "here", "published", "where"].map((text) => element("th", { scope: "col" }, text));
    return element(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Published numbers" },
        element("h3", {}, "Published numbers"),
        element("table", {}, element("thead", {}, element("tr", {}, ...head)), body),
    );
}
