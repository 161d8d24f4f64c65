// Predicted against true parameters: every dot is one element.

import type { Payload } from "../shared/payload";
import { plainNumber, roundNumbers } from "../shared/colors";
import { element, nameElement } from "../shared/dom";
import { cssVariable, onTheme } from "../shared/theme";
import { labelled, liveCanvas, section, select } from "./figure";
import { runNames, type ClothData, type Report } from "./model";

interface Dots {
    title: string;
    label: string;
    unit: string;
    learned: Float32Array;
    truth: Float32Array;
    family?: Uint8Array;
    families: string[];
}

function dotsOf(payload: Payload, cloth: ClothData, title: string): Dots[] {
    const made: Dots[] = [];
    for (const field of cloth.fields) {
        if (!field.truth) continue;
        const set = cloth.elements[field.element];
        made.push({
            title,
            label: field.label,
            unit: field.unit,
            learned: payload.f32(field.values),
            truth: payload.f32(field.truth),
            family: set.family ? payload.u8(set.family) : undefined,
            families: set.families,
        });
    }
    const cells = cloth.cells;
    if (made.length === 0 && cells) {
        made.push({ title, label: "stiffness by cell", unit: "N/m", learned: payload.f32(cells.values), truth: payload.f32(cells.truth), families: [] });
    }
    return made;
}

// The range of finite numbers, with some room, the same on both axes.
export function rangeOf(arrays: Float32Array[]): [number, number] {
    let [low, high] = [Infinity, -Infinity];
    for (const array of arrays) {
        for (const value of array) {
            if (!Number.isFinite(value)) continue;
            low = Math.min(low, value);
            high = Math.max(high, value);
        }
    }
    if (!(high >= low)) return [0, 1];
    const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
    return [Math.min(low - room, low > 0 && low < 0.3 * high ? 0 : low - room), high + room];
}

function draw(context: CanvasRenderingContext2D, width: number, height: number, dots: Dots): void {
    const [left, bottom, right, top] = [58, height - 40, width - 12, 10];
    const across = rangeOf([dots.truth]);
    const up = rangeOf([dots.learned]);
    const same = dots.families.length > 0 || dots.unit !== "N/m" || dots.label !== "stiffness by cell";
    const joint: [number, number] = [Math.min(across[0], up[0]), Math.max(across[1], up[1])];
    const [xr, yr] = same ? [joint, joint] : [across, up];
    const x = (value: number) => left + ((value - xr[0]) / (xr[1] - xr[0])) * (right - left);
    const y = (value: number) => bottom - ((value - yr[0]) / (yr[1] - yr[0])) * (bottom - top);
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = cssVariable("--ink-2");
    context.strokeStyle = cssVariable("--line");
    context.lineWidth = 1;
    context.textAlign = "center";
    for (const tick of roundNumbers(...xr, 5)) {
        context.beginPath();
        context.moveTo(x(tick), top);
        context.lineTo(x(tick), bottom);
        context.stroke();
        context.fillText(plainNumber(tick), x(tick), bottom + 16);
    }
    context.textAlign = "right";
    for (const tick of roundNumbers(...yr, 5)) {
        context.beginPath();
        context.moveTo(left, y(tick));
        context.lineTo(right, y(tick));
        context.stroke();
        context.fillText(plainNumber(tick), left - 6, y(tick) + 4);
    }
    context.textAlign = "center";
    context.fillText(`true [${dots.unit}]`, (left + right) / 2, height - 6);
    context.save();
    context.translate(14, (top + bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(`learned [${dots.unit}]`, 0, 0);
    context.restore();
    if (same) {
        context.strokeStyle = cssVariable("--ink-2");
        context.setLineDash([6, 4]);
        context.beginPath();
        context.moveTo(x(joint[0]), y(joint[0]));
        context.lineTo(x(joint[1]), y(joint[1]));
        context.stroke();
        context.setLineDash([]);
    }
    context.globalAlpha = dots.learned.length > 800 ? 0.35 : 0.6;
    const colors = [1, 2, 3, 4, 5, 6].map((k) => cssVariable(`--series-${k}`));
    for (let i = 0; i < dots.learned.length; ++i) {
        if (!Number.isFinite(dots.truth[i]) || !Number.isFinite(dots.learned[i])) continue;
        context.fillStyle = colors[(dots.family?.[i] ?? 0) % colors.length];
        context.beginPath();
        context.arc(x(dots.truth[i]), y(dots.learned[i]), 2.6, 0, 2 * Math.PI);
        context.fill();
    }
    context.globalAlpha = 1;
}

function familyLegend(dots: Dots): HTMLElement {
    const list = element("ul", { class: "legend" });
    dots.families.forEach((family, k) => {
        const mark = element("span", { class: "dot" });
        mark.style.background = `var(--series-${1 + (k % 6)})`;
        list.append(element("li", {}, mark, family));
    });
    return list;
}

export function scatterSection(payload: Payload, report: Report): HTMLElement | undefined {
    const names = runNames(report);
    const all = report.runs.flatMap((run, r) => dotsOf(payload, run.cloth, names[r]));
    if (all.length === 0) return undefined;
    const labels = [...new Set(all.map((dots) => dots.label))];
    const made = section(
        "Learned against true",
        "Every dot is one element of the cloth; the dashed line is where learned equals true.",
        "scatter",
    );
    const box = element("div", { class: "maps" });
    let redraws: (() => void)[] = [];
    const figuresOf = (label: string) =>
        all
            .filter((dots) => dots.label === label)
            .map((dots) => {
                const canvas = liveCanvas(`Learned against true ${dots.label} of ${dots.title}`, 1.15, (context, width, height) =>
                    draw(context, width, height, dots),
                );
                redraws.push(canvas.redraw);
                const title = report.runs.length > 1 ? nameElement(`${dots.title}: ${dots.label}`) : element("span", {}, dots.label);
                return element("figure", { class: "map wide" }, element("figcaption", {}, title), canvas.element, familyLegend(dots));
            });
    // Few fit beside each other; more are chosen from.
    if (report.runs.length === 1 && labels.length <= 2) {
        box.append(...labels.flatMap(figuresOf));
    } else {
        const show = (index: number) => {
            redraws = [];
            box.replaceChildren(...figuresOf(labels[index]));
        };
        made.append(element("div", { class: "controls" }, labelled("Parameter", select(labels, show))));
        show(0);
    }
    made.append(box);
    onTheme(() => redraws.forEach((redraw) => redraw()));
    return made;
}
