import { element } from "../shared/dom";
import { cssColor, plainNumber, scaleTicks, shareOf, valueAt, type Scale } from "../shared/colors";

// A part of the page with a heading and a sentence that says what is seen.
export function section(title: string, lead: string, id: string): HTMLElement {
    const made = element("section", { id, "aria-labelledby": `${id}-title` });
    made.append(element("h2", { id: `${id}-title` }, title));
    if (lead) made.append(element("p", { class: "lead" }, lead));
    return made;
}

export function labelled(text: string, control: HTMLElement): HTMLLabelElement {
    return element("label", { class: "control" }, element("span", {}, text), control);
}

export function select(options: string[], onChange: (index: number) => void, chosen = 0): HTMLSelectElement {
    const made = element("select");
    options.forEach((text, index) => made.append(element("option", { value: index }, text)));
    made.selectedIndex = chosen;
    made.addEventListener("change", () => onChange(made.selectedIndex));
    return made;
}

// A bar of colours with its caption, unit and numbers.
export function scaleBar(scale: Scale): HTMLElement {
    const stops = Array.from({ length: 17 }, (_, i) => cssColor(scale.map(i / 16)));
    const bar = element("div", { class: "bar" });
    bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    const ticks = element("div", { class: "ticks" });
    for (const tick of scaleTicks(scale)) {
        const share = shareOf(scale, tick);
        if (share < -0.001 || share > 1.001) continue;
        const mark = element("span", {}, plainNumber(tick));
        mark.style.left = `${100 * share}%`;
        ticks.append(mark);
    }
    const unit = scale.unit ? ` [${scale.unit}]` : "";
    const text = `${scale.caption}${unit}, from ${plainNumber(valueAt(scale, 0))} to ${plainNumber(valueAt(scale, 1))}`;
    return element(
        "div",
        { class: "scale", role: "img", "aria-label": text },
        element("span", { class: "caption" }, `${scale.caption}${unit}`),
        element("div", { class: "track" }, bar, ticks),
    );
}

// A canvas that is drawn again when its size or the theme changes.
export function liveCanvas(
    label: string,
    ratio: number,
    draw: (context: CanvasRenderingContext2D, width: number, height: number) => void,
): { element: HTMLCanvasElement; redraw: () => void } {
    const canvas = element("canvas", { role: "img", "aria-label": label });
    canvas.style.aspectRatio = String(ratio);
    const redraw = () => {
        const { clientWidth: width, clientHeight: height } = canvas;
        if (width === 0 || height === 0) return;
        const dots = window.devicePixelRatio;
        canvas.width = Math.round(width * dots);
        canvas.height = Math.round(height * dots);
        const context = canvas.getContext("2d");
        if (!context) return;
        context.setTransform(dots, 0, 0, dots, 0, 0);
        context.clearRect(0, 0, width, height);
        draw(context, width, height);
    };
    new ResizeObserver(redraw).observe(canvas);
    return { element: canvas, redraw };
}
