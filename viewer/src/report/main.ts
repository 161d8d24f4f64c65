import { element } from "../shared/dom";
import { runPage } from "../shared/message";
import { pagePayload } from "../shared/payload";
import { themeButton } from "../shared/theme";
import { errorSection } from "./errors";
import { learningSection } from "./learning";
import { mapSection } from "./maps";
import { fileName, reportOf } from "./model";
import { playerSection, type Player } from "./player";
import { scatterSection } from "./scatter";
import { comparison, headline, keyFigures, provenance } from "./tables";
import "./report.css";

declare global {
    interface Window {
        springtime?: { player?: Player };
    }
}

function remarks(texts: string[]): HTMLElement | undefined {
    if (texts.length === 0) return undefined;
    const list = element("ul");
    for (const text of texts) list.append(element("li", {}, text));
    return element("aside", { class: "remarks", "aria-label": "Remarks" }, list);
}

runPage("This report", () => {
    const payload = pagePayload("report");
    const report = reportOf(payload);
    document.title = `${fileName(report.runs[0].name)} – SpringTime report`;
    const main = document.getElementById("report")!;
    const head = element(
        "header",
        { class: "top" },
        element("span", { class: "brand" }, "SpringTime report"),
        themeButton(),
    );
    const intro = element("div", { class: "intro" }, element("h1", {}, ...headline(report), "."), provenance(report), keyFigures(report));
    const player = playerSection(payload, report);
    const parts = [
        head,
        intro,
        remarks(report.remarks),
        player?.section,
        errorSection(payload, report),
        comparison(report),
        mapSection(payload, report),
        scatterSection(payload, report),
        learningSection(payload, report),
        element("footer", {}, `Made by springtime ${report.version}. Everything is in this file; nothing is loaded from a network.`),
    ];
    main.replaceChildren(...parts.filter((part) => part !== undefined));
    window.springtime = { player: player?.player };
});
