// The scale that the colours stand for, with its unit.

import { cssColor, plainNumber, type Scale, scaleTicks, shareOf, valueAt } from "../shared/colors";
import { element } from "../shared/dom";

const STOPS = 24;

export class Legend {
    readonly box = element("figure", { class: "legend" });
    private readonly caption = element("figcaption");
    private readonly bar = element("div", { class: "legend-bar" });
    private readonly ticks = element("div", { class: "legend-ticks" });
    private shown = "";

    constructor() {
        this.box.append(this.caption, this.bar, this.ticks);
    }

    show(scale: Scale): void {
        const key = [scale.caption, scale.unit, scale.low, scale.high].join(" ");
        if (key === this.shown) return;
        this.shown = key;
        this.caption.textContent = scale.unit ? `${scale.caption} [${scale.unit}]` : scale.caption;
        const stops = Array.from({ length: STOPS + 1 }, (_, i) => {
            const value = valueAt(scale, i / STOPS);
            return cssColor(scale.map(shareOf(scale, value)));
        });
        this.bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
        this.ticks.replaceChildren(
            ...scaleTicks(scale, 4).map((value) => {
                const tick = element("span", {}, plainNumber(value, 2));
                tick.style.left = `${100 * shareOf(scale, value)}%`;
                return tick;
            }),
        );
    }
}
