// Controls with labels and units. Every one is an element of HTML, so that the keyboard reaches it.

import { plainNumber } from "../shared/colors";
import { element } from "../shared/dom";

let lastId = 0;

export interface SliderOptions {
    label: string;
    unit?: string;
    low: number;
    high: number;
    value: number;
    logarithmic?: boolean; // then low is positive
    text?: (value: number) => string;
    onInput: (value: number) => void;
}

const STEPS = 200;

export interface Slider {
    box: HTMLElement;
    set(value: number): void; // without telling anybody
}

export function slider(options: SliderOptions): Slider {
    const { low, high, logarithmic } = options;
    const valueAt = (share: number) => (logarithmic ? low * (high / low) ** share : low + (high - low) * share);
    const shareOf = (value: number) =>
        logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    const words =
        options.text ?? ((value: number) => `${plainNumber(value, 2)}${options.unit ? ` ${options.unit}` : ""}`);
    const id = `field-${++lastId}`;
    const input = element("input", { type: "range", id, min: 0, max: STEPS, step: 1 });
    const output = element("output", { for: id });
    const show = (value: number) => {
        output.textContent = words(value);
        input.setAttribute("aria-valuetext", words(value));
    };
    const set = (value: number) => {
        input.value = String(Math.round(STEPS * shareOf(value)));
        show(value);
    };
    input.addEventListener("input", () => {
        const value = valueAt(Number(input.value) / STEPS);
        const tidy = Math.abs(value) < 1e-9 * (high - low) ? 0 : value;
        show(tidy);
        options.onInput(tidy);
    });
    set(options.value);
    return {
        box: element("div", { class: "field" }, element("label", { for: id }, options.label), output, input),
        set,
    };
}

export interface Choice {
    value: string;
    label: string;
    hint?: string;
}

export interface Select {
    box: HTMLElement;
    set(value: string): void;
    offer(choices: Choice[]): void;
}

export function select(label: string, choices: Choice[], onChange: (value: string) => void): Select {
    const id = `field-${++lastId}`;
    const input = element("select", { id });
    const offer = (offered: Choice[]) => {
        const before = input.value;
        input.replaceChildren(...offered.map(({ value, label: words }) => element("option", { value }, words)));
        if (offered.some(({ value }) => value === before)) input.value = before;
    };
    offer(choices);
    input.addEventListener("change", () => onChange(input.value));
    return {
        box: element("div", { class: "field select" }, element("label", { for: id }, label), input),
        set: (value) => (input.value = value),
        offer,
    };
}

export interface Toggle {
    box: HTMLElement;
    set(on: boolean): void;
}

export function toggle(label: string, value: boolean, onChange: (on: boolean) => void): Toggle {
    const id = `field-${++lastId}`;
    const input = element("input", { type: "checkbox", id });
    input.checked = value;
    input.addEventListener("change", () => onChange(input.checked));
    return {
        box: element("div", { class: "field toggle" }, input, element("label", { for: id }, label)),
        set: (on) => (input.checked = on),
    };
}

export function button(label: string, onClick: () => void, hint?: string): HTMLButtonElement {
    const made = element("button", { type: "button", title: hint });
    made.textContent = label;
    made.addEventListener("click", onClick);
    return made;
}

// Buttons of which one is pressed.
export function choiceButtons(
    label: string,
    choices: Choice[],
    value: string,
    onChange: (value: string) => void,
): { box: HTMLElement; set(value: string): void } {
    const buttons = choices.map((choice) => {
        const made = button(choice.label, () => pick(choice.value), choice.hint);
        made.dataset.value = choice.value;
        return made;
    });
    const set = (picked: string) => {
        for (const made of buttons) made.setAttribute("aria-pressed", String(made.dataset.value === picked));
    };
    const pick = (picked: string) => {
        set(picked);
        onChange(picked);
    };
    set(value);
    return { box: element("div", { class: "choices", role: "group", "aria-label": label }, ...buttons), set };
}

// A button that asks for a file.
export function fileButton(label: string, accept: string, onFile: (file: File) => void): HTMLElement {
    const input = element("input", { type: "file", accept, class: "visually-hidden", "aria-label": label });
    input.tabIndex = -1;
    input.addEventListener("change", () => {
        const file = input.files?.[0];
        if (file) onFile(file);
        input.value = "";
    });
    return element("span", {}, button(label, () => input.click()), input);
}

export function group(title: string, open: boolean, ...children: Node[]): HTMLElement {
    const summary = element("summary", {}, title);
    return element("details", { class: "group", open }, summary, ...children);
}

export function row(...children: Node[]): HTMLElement {
    return element("div", { class: "row" }, ...children);
}
