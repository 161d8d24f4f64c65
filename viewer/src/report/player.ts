// The 3D player: the observed motion and the learned cloths, side by side or overlaid.

import { Vector3 } from "three";
import type { Payload } from "../shared/payload";
import { colorOf, diverging, scaleOver, sequential, withUnit, worsening, type Rgb, type Scale } from "../shared/colors";
import { element, nameElement } from "../shared/dom";
import { messageOf } from "../shared/message";
import { Stage, type CurveLine, type SheetMesh } from "../shared/stage";
import { theme, onTheme } from "../shared/theme";
import { labelled, scaleBar, section, select } from "./figure";
import { atParticles, mainField, runNames, type ClothData, type Report, type SceneData } from "./model";
import { distances, edgesOf, strains, Track } from "./tracks";

const COLORINGS = ["Stiffness", "Strain", "Error"] as const;
type Coloring = (typeof COLORINGS)[number];
const SPEEDS = [0.1, 0.25, 0.5, 1, 2];
const PLAIN_LIGHT: Rgb = [0.72, 0.73, 0.76];
const PLAIN_DARK: Rgb = [0.62, 0.64, 0.7];
const GAP = 0.12; // between cloths, of their size
const FIRST_LOOK = 0.4; // of a rollout
const SAMPLES = 24; // frames that scales are found from

// A cloth in the player: the source, or a run.
interface Actor {
    title: string;
    rest: Float32Array;
    surface: Uint32Array;
    curve: Uint32Array;
    edges: Uint32Array;
    mesh: SheetMesh | CurveLine;
    stiffness?: Float32Array;
    run?: number; // nothing for the source
    track?: Track; // of the present scene
    buffer: Float32Array;
    shift: Vector3;
}

export class Player {
    readonly element: HTMLElement;
    private readonly stage: Stage;
    private readonly actors: Actor[];
    private readonly names: string[];
    private readonly legend = element("div", { class: "scale-holder" });
    private readonly titles = element("p", { class: "titles" });
    private readonly slider = element("input", { type: "range", min: 0, value: 0, step: "any" });
    private readonly clock = element("output", { class: "clock" });
    private readonly playButton = element("button", { type: "button", class: "primary" });
    private scene: SceneData;
    private coloring: Coloring = "Error";
    private scale: Scale;
    private overlay = false;
    private speed = 1;
    private frame = 0; // of the page; between two it is interpolated
    private playing = false;
    private last = 0;

    constructor(
        private readonly payload: Payload,
        private readonly report: Report,
    ) {
        this.names = runNames(report);
        this.scene = report.scenes![0];
        const view = element("div", { class: "stage" });
        this.stage = new Stage(view, "3D view of the motion. Arrow keys turn it, plus and minus zoom, Home shows all.");
        this.actors = this.makeActors();
        this.scale = this.scaleFor();
        this.element = element("div", { class: "player" }, view, this.titles, this.transport(), this.options(), this.legend);
        this.element.addEventListener("keydown", (event) => this.onKey(event));
        this.show(0);
        // At the start the sheet is flat: the first look is at what it became.
        this.showFrame(Math.round(FIRST_LOOK * (this.scene.frames.length - 1)));
        new ResizeObserver(() => this.arrange()).observe(view);
        onTheme(() => this.color());
    }

    // ---- What tests and the console ask

    // The frame that is shown: its index in the page and in the motion, and its time.
    get moment(): { index: number; frame: number; time: number } {
        const index = Math.round(this.frame);
        const frame = this.scene.frames[index];
        return { index, frame, time: frame * this.report.motion!.frame_interval };
    }

    showFrame(index: number): void {
        this.pause();
        this.frame = index;
        this.draw();
    }

    // Where the points of a cloth are drawn, without the shift that puts cloths side by side.
    positions(actor: number): Float32Array {
        return this.actors[actor].buffer.slice();
    }

    // ---- Making

    private makeActors(): Actor[] {
        const { payload, report } = this;
        const make = (title: string, prefix: string, points: number, extra: Partial<Actor>): Actor => {
            const surface = payload.u32(`${prefix}/surface`);
            const curve = payload.u32(`${prefix}/curve`);
            const mesh = surface.length > 0 ? this.stage.addSheet(points, surface) : this.stage.addCurve(points, curve);
            return {
                title,
                rest: payload.f32(`${prefix}/rest`),
                surface,
                curve,
                edges: edgesOf(surface, curve),
                mesh,
                buffer: new Float32Array(3 * points),
                shift: new Vector3(),
                ...extra,
            };
        };
        const stiffnessOf = (cloth: ClothData | undefined) => {
            const field = cloth && mainField(cloth);
            return field ? atParticles(payload, cloth, field) : undefined;
        };
        const source = make("observed", "landmarks", report.motion!.landmarks, {
            stiffness: report.truth_at_landmarks ? stiffnessOf(report.truth) : undefined,
        });
        const actors = [source];
        report.runs.forEach((run, r) => {
            if (!report.scenes!.every((scene) => scene.runs[r])) return;
            const title = report.runs.length > 1 ? this.names[r] : "learned";
            actors.push(make(title, run.cloth.prefix, run.cloth.particles, { run: r, stiffness: stiffnessOf(run.cloth) }));
        });
        return actors;
    }

    private transport(): HTMLElement {
        this.slider.setAttribute("aria-label", "Time");
        this.slider.addEventListener("input", () => {
            this.pause();
            this.frame = Number(this.slider.value);
            this.draw();
        });
        this.playButton.addEventListener("click", () => this.toggle());
        const step = (text: string, label: string, by: number) => {
            const button = element("button", { type: "button", "aria-label": label }, text);
            button.addEventListener("click", () => this.step(by));
            return button;
        };
        const speeds = select(SPEEDS.map((speed) => `${speed}×`), (i) => (this.speed = SPEEDS[i]), SPEEDS.indexOf(1));
        this.setPlaying(false);
        return element(
            "div",
            { class: "transport" },
            this.playButton,
            step("‹", "One frame back", -1),
            step("›", "One frame on", 1),
            this.slider,
            this.clock,
            labelled("Speed", speeds),
        );
    }

    private options(): HTMLElement {
        const scenes = this.report.scenes!;
        const rollouts = select(
            scenes.map((scene) => `rollout ${scene.rollout}`),
            (i) => this.show(i),
        );
        const colorings = select([...COLORINGS], (i) => {
            this.coloring = COLORINGS[i];
            this.rescale();
        }, COLORINGS.indexOf(this.coloring));
        const layouts = select(["Side by side", "Overlaid"], (i) => {
            this.overlay = i === 1;
            this.arrange();
        });
        return element(
            "div",
            { class: "controls" },
            labelled("Rollout", rollouts),
            labelled("Colour", colorings),
            labelled("Layout", layouts),
        );
    }

    // ---- Time

    private setPlaying(playing: boolean): void {
        this.playing = playing;
        this.playButton.textContent = playing ? "Pause" : "Play";
    }

    private pause(): void {
        this.setPlaying(false);
    }

    private toggle(): void {
        this.setPlaying(!this.playing);
        if (!this.playing) return;
        if (this.frame >= this.scene.frames.length - 1) this.frame = 0;
        this.last = performance.now();
        requestAnimationFrame((now) => this.tick(now));
    }

    private tick(now: number): void {
        if (!this.playing) return;
        const seconds = (this.speed * (now - this.last)) / 1000;
        this.last = now;
        this.frame += seconds / this.interval();
        const end = this.scene.frames.length - 1;
        if (this.frame >= end) {
            this.frame = end;
            this.pause();
        }
        this.draw();
        if (this.playing) requestAnimationFrame((next) => this.tick(next));
    }

    private step(by: number): void {
        this.pause();
        this.frame = Math.min(Math.max(Math.round(this.frame) + by, 0), this.scene.frames.length - 1);
        this.draw();
    }

    // Between two frames of the page. [s]
    private interval(): number {
        const stride = this.scene.frames.length > 1 ? this.scene.frames[1] - this.scene.frames[0] : 1;
        return stride * this.report.motion!.frame_interval;
    }

    private onKey(event: KeyboardEvent): void {
        const control = event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement;
        if (event.key === " " && !control && !(event.target instanceof HTMLButtonElement)) {
            event.preventDefault();
            this.toggle();
        }
        if (control) return;
        if (event.key === ",") this.step(-1);
        if (event.key === ".") this.step(1);
    }

    // ---- What is seen

    private show(index: number): void {
        this.scene = this.report.scenes![index];
        this.frame = Math.min(this.frame, this.scene.frames.length - 1);
        this.slider.max = String(this.scene.frames.length - 1);
        for (const actor of this.actors) {
            const array = actor.run === undefined ? this.scene.source : this.scene.runs[actor.run]!;
            actor.track = new Track(this.payload, array, this.scene);
        }
        this.arrange();
        this.rescale();
    }

    // Side by side along the longer side of the view; the phone has them above each other.
    private arrange(): void {
        const low = new Vector3(...this.scene.low);
        const high = new Vector3(...this.scene.high);
        const size = high.clone().sub(low);
        const { clientWidth, clientHeight } = this.stage.container;
        const sideways = clientWidth >= clientHeight;
        const step = sideways
            ? new Vector3(size.x + GAP * Math.max(size.x, size.z), 0, 0)
            : new Vector3(0, -(size.y + GAP * size.y), 0);
        this.actors.forEach((actor, i) => {
            actor.shift = this.overlay ? new Vector3() : step.clone().multiplyScalar(i);
            actor.mesh.object.position.copy(actor.shift);
            actor.mesh.setOpacity(this.overlay && i === 0 ? 0.4 : 1);
        });
        this.stage.fitPoints(this.seenPoints());
        const place = sideways ? ["left", "right"] : ["above", "below"];
        const others = this.actors.map(({ title }, i) => [i === 0 ? place[0] : i === this.actors.length - 1 ? place[1] : "middle", title]);
        this.titles.replaceChildren(
            ...others.flatMap(([where, title], i) => [
                i > 0 ? " · " : "",
                this.overlay ? (i === 0 ? "translucent: " : "solid: ") : `${where}: `,
                nameElement(title),
            ]),
        );
        this.draw();
    }

    // Where the cloths are at some moments, so that all of the motion stays in view.
    private seenPoints(): Vector3[] {
        const points: Vector3[] = [];
        for (let k = 0; k < SAMPLES; ++k) {
            this.place(((this.scene.frames.length - 1) * k) / (SAMPLES - 1));
            for (const { buffer, shift } of this.actors) {
                const step = 3 * Math.ceil(buffer.length / 3 / 64);
                for (let i = 0; i < buffer.length; i += step) {
                    if (!Number.isFinite(buffer[i])) continue;
                    points.push(new Vector3(buffer[i], buffer[i + 1], buffer[i + 2]).add(shift));
                }
            }
        }
        return points.length > 0 ? points : [new Vector3()];
    }

    private rescale(): void {
        this.scale = this.scaleFor();
        this.legend.replaceChildren(scaleBar(this.scale));
        this.draw();
    }

    // One scale for all cloths and all times of a scene, found from some of its frames.
    private scaleFor(): Scale {
        if (this.coloring === "Stiffness") {
            const values = this.actors.flatMap((actor) => Array.from(actor.stiffness ?? []));
            const run = this.report.runs[0].cloth;
            return scaleOver(values, { caption: mainField(run)?.label ?? "stiffness", unit: mainField(run)?.unit ?? "N/m" }, sequential);
        }
        const values: number[] = [];
        const frames = this.scene.frames.length;
        for (let k = 0; k < SAMPLES; ++k) {
            this.place(((frames - 1) * k) / (SAMPLES - 1));
            for (const actor of this.actors) this.valuesOf(actor)?.forEach((value) => values.push(value));
        }
        if (this.coloring === "Error") {
            const scale = scaleOver(values, { caption: "distance from the observed points", unit: "m" }, worsening, 0.02);
            return { ...scale, low: 0 };
        }
        const sizes = values.filter(Number.isFinite).map(Math.abs);
        const widest = scaleOver(sizes, { caption: "", unit: "" }, diverging, 0.02).high;
        return { caption: "strain, stretched positive", unit: "", low: -widest, high: widest, map: diverging };
    }

    // Numbers that stand for colours; nothing where a cloth has none.
    private valuesOf(actor: Actor): Float32Array | undefined {
        if (this.coloring === "Stiffness") return actor.stiffness;
        if (this.coloring === "Strain") return strains(actor.buffer, actor.rest, actor.edges);
        if (actor.run === undefined) return undefined;
        const name = `run${actor.run}/follows`;
        return distances(actor.buffer, this.actors[0].buffer, this.payload.u32(`${name}_index`), this.payload.f32(`${name}_weight`));
    }

    private place(frame: number): void {
        for (const actor of this.actors) actor.track?.at(frame, actor.buffer);
    }

    private draw(): void {
        this.place(this.frame);
        for (const actor of this.actors) actor.mesh.setPositions(actor.buffer);
        this.color();
        this.slider.value = String(this.frame);
        const time = this.frame * this.interval();
        this.clock.textContent = `${time.toFixed(2)} s`;
        this.slider.setAttribute("aria-valuetext", `${time.toFixed(2)} seconds`);
    }

    private color(): void {
        const plain = theme() === "dark" ? PLAIN_DARK : PLAIN_LIGHT;
        for (const actor of this.actors) {
            const values = this.valuesOf(actor);
            actor.mesh.setColors((vertex) => (values ? colorOf(this.scale, values[vertex]) : plain));
        }
        this.stage.requestDraw();
    }
}

function thinning(report: Report): string {
    const scenes = report.scenes!;
    const [shown, all] = [
        scenes.reduce((sum, scene) => sum + scene.frames.length, 0),
        scenes.reduce((sum, scene) => sum + scene.all_frames, 0),
    ];
    const size = Math.max(...scenes[0].high.map((high, axis) => high - scenes[0].low[axis]));
    const steps = `Positions are rounded to 16 bits, steps of ${withUnit(size / 65534, "m", 2)} here`;
    const frames = shown < all ? `The page keeps ${shown} of ${all} frames of ${scenes.length} rollouts and interpolates between them. ` : "";
    const rollouts = report.motion!.rollouts > scenes.length ? `${scenes.length} of ${report.motion!.rollouts} rollouts can be played. ` : "";
    return `${rollouts}${frames}${steps}; all errors were computed from the full motion before.`;
}

export function playerSection(payload: Payload, report: Report): { section: HTMLElement; player?: Player } | undefined {
    if (!report.motion || !report.scenes?.length) return undefined;
    const made = section("How it moves", "The observed motion, and the learned cloth that runs by itself from the same start with the same handles.", "player");
    try {
        const player = new Player(payload, report);
        made.append(player.element);
        made.append(
            element(
                "p",
                { class: "note" },
                "Keys: space plays, comma and full stop step a frame; with the view in focus, arrows turn it, + and − zoom, Home shows all. ",
                thinning(report),
            ),
        );
        return { section: made, player };
    } catch (error) {
        made.append(element("p", { class: "note" }, `The 3D view needs WebGL, which this browser does not offer (${messageOf(error)}). All else on this page works without it.`));
        return { section: made };
    }
}
