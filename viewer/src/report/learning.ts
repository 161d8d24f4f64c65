// How the answer came about: what each step of the recipe gained, and the curves of the descent.

import type { Payload } from "../shared/payload";
import { withUnit } from "../shared/colors";
import { element, nameElement } from "../shared/dom";
import { chartElement, type Curve } from "./charts";
import { section } from "./figure";
import { finite, runNames, type Report, type RunData } from "./model";

const TERMS: [string, string][] = [
    ["total", "total"],
    ["trajectory", "trajectory"],
    ["force", "force"],
    ["impulse", "impulse"],
    ["position", "position"],
    ["negativity", "penalty on negative values"],
];

function stepTable(run: RunData): HTMLElement | undefined {
    const steps = Object.entries(run.result?.steps ?? {});
    if (steps.length === 0) return undefined;
    const errors = steps.map(([, step]) => finite(step.validation_rmse));
    const worst = Math.max(...errors.map((error) => error ?? 0));
    const best = Math.min(...errors.map((error) => error ?? Infinity));
    const body = element("tbody");
    steps.forEach(([name, step], i) => {
        const error = errors[i];
        const before = i > 0 ? errors[i - 1] : undefined;
        const bar = element("span", { class: error === best ? "meter best" : "meter" });
        bar.style.width = `${worst > 0 ? (100 * (error ?? 0)) / worst : 0}%`;
        const gain = error && before ? `${(100 * (error / before - 1)).toFixed(0)} %` : "";
        body.append(
            element(
                "tr",
                {},
                element("th", { scope: "row" }, nameElement(name)),
                element("td", { class: "number" }, error === undefined ? "blew up" : withUnit(error, "m")),
                element("td", { class: "meters" }, bar),
                element("td", { class: "number" }, gain),
                element("td", { class: "number" }, withUnit(finite(step.seconds) ?? NaN, "s")),
            ),
        );
    });
    const head = ["step", "error on validation motion", "", "change", "time"].map((text) =>
        element("th", { scope: "col" }, text),
    );
    return element(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Steps of the recipe" },
        element("table", {}, element("thead", {}, element("tr", {}, ...head)), body),
    );
}

function lossChart(payload: Payload, run: RunData): HTMLElement | undefined {
    if (!run.log) return undefined;
    const columns = run.log.columns;
    const curves: Curve[] = TERMS.filter(([name]) => columns[name]).map(([name, label], i) => ({
        label,
        color: 1 + (i % 7),
        values: Array.from(payload.f32(columns[name])),
    }));
    // Of one term alone the total is the same curve.
    const shown = curves.length === 2 && curves[0].label === "total" ? curves.slice(1) : curves;
    if (shown.length === 0) return undefined;
    return chartElement({
        label: "Loss by term over the iterations of the descent",
        across: "iteration",
        up: "loss",
        upUnit: "",
        x: Array.from(payload.f32(run.log.iteration)),
        curves: shown,
        logarithmic: true,
    });
}

function validationChart(payload: Payload, report: Report, names: string[]): HTMLElement | undefined {
    const having = report.runs.map((run, r) => ({ run, r })).filter(({ run }) => run.log?.columns.validation);
    if (having.length === 0) return undefined;
    const iterations = [
        ...new Set(having.flatMap(({ run }) => Array.from(payload.f32(run.log!.iteration)))),
    ].sort((a, b) => a - b);
    const at = new Map(iterations.map((iteration, i) => [iteration, i]));
    const curves = having.map(({ run, r }) => {
        const values: (number | null)[] = new Array(iterations.length).fill(null);
        const own = payload.f32(run.log!.iteration);
        payload.f32(run.log!.columns.validation).forEach((value, i) => {
            values[at.get(own[i])!] = value;
        });
        return { label: names[r], color: 1 + (r % 6), values, points: true };
    });
    return chartElement({
        label: "Motion RMSE on validation motion over the iterations of the descent",
        across: "iteration",
        up: "validation motion RMSE",
        upUnit: "m",
        x: iterations,
        curves,
        logarithmic: true,
    });
}

export function learningSection(payload: Payload, report: Report): HTMLElement | undefined {
    const names = runNames(report);
    const many = report.runs.length > 1;
    const made = section("How it was learned", "", "learning");
    let empty = true;
    const of = (title: string, r: number): (Node | string)[] => (many ? [`${title} of `, nameElement(names[r])] : [title]);
    const add = (title: (Node | string)[], note: string, what: HTMLElement | undefined) => {
        if (!what) return;
        empty = false;
        made.append(element("h3", {}, ...title), element("p", { class: "note" }, note), what);
    };
    report.runs.forEach((run, r) => {
        add(
            of("What each step gained", r),
            "Motion RMSE on whole rollouts that the step did not learn from. The simplest step that is not clearly worse than the best is kept.",
            stepTable(run),
        );
    });
    add(
        ["Validation during the descent"],
        "Motion RMSE on whole rollouts that the descent does not learn from.",
        validationChart(payload, report, names),
    );
    report.runs.forEach((run, r) => {
        add(
            of("Loss by term", r),
            run.log ? `${run.log.rows} iterations of the descent.` : "",
            lossChart(payload, run),
        );
    });
    report.runs.forEach((run, r) => {
        const summary = run.result?.summary?.trim();
        if (!summary) return;
        empty = false;
        made.append(
            element(
                "details",
                { open: !many },
                element("summary", {}, ...of("Account", r)),
                element("pre", {}, summary),
            ),
        );
    });
    return empty ? undefined : made;
}
