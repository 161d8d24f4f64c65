// The frame of the page: bar, stage, numbers, legend, messages. It knows nothing of the simulation.

import { plainNumber, withUnit } from "../shared/colors";
import { element, nameElement } from "../shared/dom";
import { themeButton } from "../shared/theme";
import { button } from "./fields";
import { Legend } from "./legend";

export interface Numbers {
    frame: number; // [ms], of the simulation
    steps: number[]; // in a frame, of each cloth
    drawing: number; // [ms]
    rate: number; // frames per second
    time: number; // [s]
    pace?: number; // of time; 1 is real time
    vectors: boolean;
}

const WARN_FOR = 12000; // [ms]

export class Layout {
    readonly stage = element("div", { class: "stage", "data-tool": "pull" });
    readonly panel = element("aside", { class: "panel", "aria-label": "Controls" });
    readonly legend = new Legend();
    private readonly names = element("p", { class: "names" });
    private readonly cost = element("p", { class: "numbers", id: "numbers" });
    private readonly said = element("p", { class: "said", role: "status" });
    private readonly warning = element("p", { class: "warning", role: "alert", hidden: true });
    private readonly blowUp = element("div", { class: "blow-up", role: "alert", hidden: true });
    private readonly blowUpText = element("p");
    private readonly safeSteps = element("button", { type: "button" }, "Begin anew with safe sub-steps");
    private timer?: number;

    constructor() {
        const bar = element("header", { class: "bar" }, element("h1", {}, "SpringTime"), this.names, themeButton());
        const overlay = element("div", { class: "overlay" }, this.cost, this.legend.box);
        const main = element("main", { class: "main" }, this.stage, overlay, this.said, this.warning, this.blowUp);
        document.body.append(element("div", { class: "live" }, bar, main, this.panel));
    }

    title(names: string[]): void {
        this.names.replaceChildren();
        names.forEach((name, i) => {
            if (i > 0) this.names.append(" and ");
            this.names.append(nameElement(name));
        });
        document.title = `${names.join(" and ")} – SpringTime`;
    }

    say(words: string): void {
        this.said.textContent = words;
    }

    warn(words: string): void {
        this.warning.textContent = words;
        this.warning.hidden = false;
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => (this.warning.hidden = true), WARN_FOR);
    }

    onBlowUp(actions: { reset(): void; automatic(): void }): void {
        const reset = button("Begin anew", actions.reset);
        reset.className = "primary";
        this.safeSteps.addEventListener("click", actions.automatic);
        this.blowUp.append(
            element("h2", {}, "The cloth blew up"),
            this.blowUpText,
            element("div", { class: "row" }, reset, this.safeSteps),
        );
    }

    // `safe`: whether the sub-steps are safe already.
    showBlowUp(words: string, safe: boolean): void {
        this.safeSteps.hidden = safe;
        this.blowUpText.textContent = words;
        this.blowUp.hidden = false;
        this.blowUp.querySelector("button")?.focus();
    }

    hideBlowUp(): void {
        this.blowUp.hidden = true;
    }

    numbers({ frame, steps, drawing, rate, time, pace, vectors }: Numbers): void {
        const all = steps.reduce((sum, count) => sum + count, 0);
        const parts = [
            `time ${time.toFixed(1)} s${pace === undefined ? "" : `, ${plainNumber(Math.min(pace, 1), 1)} of real time`}`,
            `simulation ${plainNumber(frame, 2)} ms: ${all} steps of ${withUnit(frame / all / 1000, "s", 2)}`,
            `drawing ${plainNumber(drawing, 2)} ms`,
            `${rate.toFixed(0)} frames/s`,
        ];
        if (!Number.isFinite(frame)) parts[1] = `${all} steps a frame`;
        if (!vectors) parts.push("no vector instructions in this browser");
        this.cost.replaceChildren(...parts.map((part) => element("span", {}, part)));
        Object.assign(this.cost.dataset, { frame: String(frame), steps: String(all), drawing: String(drawing) });
    }
}
