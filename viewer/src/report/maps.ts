// Maps of parameters over the flat sheet: the source and what was learned, on one scale.

import type { Payload } from "../shared/payload";
import { colorOf, cssColor, scaleOver, sequential, worsening, type Scale } from "../shared/colors";
import { element, nameElement } from "../shared/dom";
import { onTheme } from "../shared/theme";
import { labelled, liveCanvas, scaleBar, section, select } from "./figure";
import { runNames, type ClothData, type Field, type Report } from "./model";

// One cloth on the page.
interface Panel {
    title: string;
    cloth: ClothData;
}

// What the reader can choose: a parameter of one group of elements.
interface Choice {
    text: string;
    caption: string;
    unit: string;
    uncertain: boolean;
    element: string;
    // The values of a panel and which elements they belong to; nothing where it has none.
    find: (cloth: ClothData) => { field: Field; values: Float32Array; members: (e: number) => boolean } | undefined;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

// Springs that skip a particle lie over the others, so they have a map of their own.
function groupsOf(cloth: ClothData, field: Field): { text: string; families?: string[] }[] {
    const families = cloth.elements[field.element].families;
    if (field.element !== "spring" || !families.includes("bending")) return [{ text: "" }];
    const others = families.filter((family) => family !== "bending");
    const across = { text: "bending springs", families: ["bending"] };
    return others.length === 0 ? [across] : [{ text: "springs of cells", families: others }, across];
}

function choicesOf(payload: Payload, panels: Panel[]): Choice[] {
    const choices: Choice[] = [];
    const add = (cloth: ClothData, field: Field, uncertain: boolean) => {
        for (const group of groupsOf(cloth, field)) {
            const text = `${uncertain ? "Standard error of " : ""}${field.label}${group.text ? `, ${group.text}` : ""}`;
            if (choices.some((choice) => choice.text === capital(text) && choice.element === field.element)) continue;
            const find = (of: ClothData) => {
                const same = of.fields.find(
                    (each) => each.name === field.name && each.label === field.label && each.element === field.element,
                );
                const array = uncertain ? same?.relative_error : same?.values;
                if (!same || !array) return undefined;
                const set = of.elements[same.element];
                const family = set.family ? payload.u8(set.family) : undefined;
                const wanted = group.families?.map((name) => set.families.indexOf(name));
                const members = (e: number) => !wanted || !family || wanted.includes(family[e]);
                return { field: same, values: payload.f32(array), members };
            };
            choices.push({
                text: capital(text),
                caption: uncertain ? `standard error of ${field.label}, share of its value` : field.label,
                unit: uncertain ? "" : field.unit,
                uncertain,
                element: field.element,
                find,
            });
        }
    };
    for (const uncertain of [false, true]) {
        for (const { cloth } of [...panels].reverse()) {
            for (const field of cloth.fields) {
                if (field.element === "coupling" || (uncertain && !field.relative_error)) continue;
                add(cloth, field, uncertain);
            }
        }
    }
    // First what most cloths have: a parameter of one cloth alone has nothing beside it.
    const shared = (choice: Choice) => panels.filter(({ cloth }) => choice.find(cloth)).length;
    const counts = new Map(choices.map((choice) => [choice, shared(choice)]));
    const last = (choice: Choice) => (choice.uncertain ? 1 : 0);
    return choices.sort((a, b) => last(a) - last(b) || counts.get(b)! - counts.get(a)!);
}

class SheetView {
    private readonly zoom: number;
    private readonly left: number;
    private readonly top: number;

    constructor(
        readonly rest: Float32Array,
        width: number,
        height: number,
    ) {
        const range = (axis: number) => {
            let [low, high] = [Infinity, -Infinity];
            for (let i = axis; i < rest.length; i += 2) {
                low = Math.min(low, rest[i]);
                high = Math.max(high, rest[i]);
            }
            return [low, high];
        };
        const [[west, east], [north, south]] = [range(0), range(1)];
        const inset = 10;
        this.zoom = Math.min((width - 2 * inset) / Math.max(east - west, 1e-9), (height - 2 * inset) / Math.max(south - north, 1e-9));
        if (!Number.isFinite(this.zoom)) this.zoom = 1;
        this.left = (width - this.zoom * (east + west)) / 2;
        this.top = (height - this.zoom * (south + north)) / 2;
    }

    point(particle: number): [number, number] {
        return [this.left + this.zoom * this.rest[2 * particle], this.top + this.zoom * this.rest[2 * particle + 1]];
    }

    length(meters: number): number {
        return this.zoom * meters;
    }
}

const HALF = 0.45; // of an element that reaches over two cells: more would hide its neighbours

function drawElements(
    context: CanvasRenderingContext2D,
    view: SheetView,
    payload: Payload,
    cloth: ClothData,
    found: NonNullable<ReturnType<Choice["find"]>>,
    scale: Scale,
): void {
    const set = cloth.elements[found.field.element];
    const corners = payload.u32(set.corners);
    const width = payload.shape(set.corners)[1];
    const bending = set.families.indexOf("bending");
    const family = set.family ? payload.u8(set.family) : undefined;
    const cell = Math.sqrt((cloth.length * cloth.width) / Math.max(cloth.particles, 1));
    context.lineWidth = Math.max(1.5, view.length(cell) * 0.24);
    context.lineCap = "round";
    for (let e = 0; e < found.values.length; ++e) {
        if (!found.members(e)) continue;
        const color = cssColor(colorOf(scale, found.values[e]));
        const at = (c: number) => view.point(corners[e * width + c]);
        context.beginPath();
        if (found.field.element === "triangle") {
            context.moveTo(...at(0));
            context.lineTo(...at(1));
            context.lineTo(...at(2));
            context.closePath();
            context.fillStyle = color;
            context.strokeStyle = color;
            context.lineWidth = 0.6;
            context.fill();
            context.stroke();
            continue;
        }
        const [from, to] = found.field.element === "bend" ? [at(0), at(2)] : [at(0), at(1)];
        const long = found.field.element === "bend" || (family !== undefined && family[e] === bending);
        const part = long ? HALF : 0.86;
        const mix = (share: number) =>
            [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share] as [number, number];
        context.moveTo(...mix((1 - part) / 2));
        context.lineTo(...mix((1 + part) / 2));
        context.strokeStyle = color;
        context.stroke();
    }
}

function panelFigure(payload: Payload, panel: Panel, draw: (context: CanvasRenderingContext2D, view: SheetView) => void) {
    const { cloth } = panel;
    const ratio = Math.min(Math.max(cloth.length / cloth.width, 0.5), 2.2);
    const canvas = liveCanvas(`Map of ${panel.title}`, ratio, (context, width, height) =>
        draw(context, new SheetView(payload.f32(`${cloth.prefix}/rest`), width, height)),
    );
    const figure = element("figure", { class: "map" }, element("figcaption", {}, nameElement(panel.title)), canvas.element);
    return { figure, redraw: canvas.redraw };
}

export function mapSection(payload: Payload, report: Report): HTMLElement | undefined {
    const names = runNames(report);
    const panels: Panel[] = [];
    if (report.truth) panels.push({ title: "source", cloth: report.truth });
    report.runs.forEach((run, r) =>
        panels.push({ title: report.runs.length > 1 ? names[r] : "learned", cloth: run.cloth }),
    );
    const choices = choicesOf(payload, panels);
    if (choices.length === 0) return undefined;
    const made = section(
        "Maps over the flat sheet",
        "All maps of a parameter have the same colours for the same values. Grey: nothing is known there.",
        "maps",
    );
    const figures = element("div", { class: "maps" });
    const legend = element("div");
    const missing = element("p", { class: "note" });
    let redraws: (() => void)[] = [];
    const show = (index: number) => {
        const choice = choices[index];
        const having = panels.map((panel) => ({ panel, found: choice.find(panel.cloth) }));
        const values: number[] = [];
        for (const { found } of having) {
            found?.values.forEach((value, e) => found.members(e) && values.push(value));
        }
        const words = { caption: choice.caption, unit: choice.unit };
        const scale = choice.uncertain ? scaleOver(values, words, worsening, 0.02) : scaleOver(values, words, sequential);
        const shown = having.filter(({ found }) => found);
        const made = shown.map(({ panel, found }) =>
            panelFigure(payload, panel, (context, view) =>
                drawElements(context, view, payload, panel.cloth, found!, scale),
            ),
        );
        redraws = made.map((each) => each.redraw);
        figures.replaceChildren(...made.map((each) => each.figure));
        legend.replaceChildren(scaleBar(scale));
        const without = having.filter(({ found }) => !found).map(({ panel }) => panel.title);
        missing.textContent =
            without.length > 0 && without.length < panels.length ? `Not a parameter of: \u2068${without.join("\u2069, \u2068")}\u2069.` : "";
    };
    made.append(
        element("div", { class: "controls" }, labelled("Parameter", select(choices.map((choice) => choice.text), show))),
        legend,
        figures,
        missing,
    );
    show(0);
    const cells = cellMaps(payload, report, names);
    if (cells) made.append(cells);
    onTheme(() => redraws.forEach((redraw) => redraw()));
    return made;
}

// Source and surrogate of different elements, such as triangles and springs: stiffness by cell.
function cellMaps(payload: Payload, report: Report, names: string[]): HTMLElement | undefined {
    const having = report.runs
        .map((run, r) => ({ cells: run.cloth.cells, cloth: run.cloth, name: names[r] }))
        .filter(({ cells, cloth }) => cells && !cloth.fields.some((field) => field.truth));
    if (having.length === 0) return undefined;
    const first = having[0];
    const sheets = [
        { title: "source", cloth: first.cloth, rows: first.cells!.rows, cols: first.cells!.cols, values: payload.f32(first.cells!.truth), caption: "stiffness by cell, of the source" },
        ...having.map(({ cells, cloth, name }) => ({
            title: report.runs.length > 1 ? name : "learned",
            cloth,
            rows: cells!.rows,
            cols: cells!.cols,
            values: payload.f32(cells!.values),
            caption: "stiffness by cell, learned",
        })),
    ];
    const box = element("div", { class: "maps" });
    for (const sheet of sheets) {
        const scale = scaleOver(sheet.values, { caption: sheet.caption, unit: "N/m" }, sequential);
        const ratio = Math.min(Math.max(sheet.cloth.length / sheet.cloth.width, 0.5), 2.2);
        const canvas = liveCanvas(`Stiffness by cell of ${sheet.title}`, ratio, (context, width, height) => {
            const [w, h] = [width / sheet.cols, height / sheet.rows];
            for (let i = 0; i < sheet.values.length; ++i) {
                context.fillStyle = cssColor(colorOf(scale, sheet.values[i]));
                context.fillRect((i % sheet.cols) * w, Math.floor(i / sheet.cols) * h, w + 0.5, h + 0.5);
            }
        });
        box.append(element("figure", { class: "map" }, element("figcaption", {}, nameElement(sheet.title)), canvas.element, scaleBar(scale)));
    }
    const correlation = first.cells!.correlation;
    const words = typeof correlation === "number" ? ` Their correlation is ${correlation.toFixed(2)}.` : "";
    return element(
        "div",
        {},
        element("h3", {}, "Stiffness by cell"),
        element(
            "p",
            { class: "note" },
            `Source and learned cloth are made of different elements, whose numbers mean different things: each map has a scale of its own.${words}`,
        ),
        box,
    );
}
