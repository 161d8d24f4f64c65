// The live page: the loop of time, and what happens when something is chosen.

import { messageOf } from "../shared/message";
import { reducedMotion } from "../shared/theme";
import type { Brush } from "./brush";
import { Colors, stiffnessMap } from "./coloring";
import { Layout } from "./layout";
import { Average, Pace } from "./pace";
import { Panel } from "./panel";
import { WorldScene } from "./scene";
import { type Tool, Tools } from "./tools";
import { SimulationError } from "./wasm";
import { FRAME, type Obstacle, type World } from "./world";

const NUMBERS_EVERY = 250; // [ms]
const MOST_UNDO = 40;
const AWAKE = 500; // [ms]
const MOST_WORK = 24; // of the simulation between two pictures [ms]; what is more makes time pass slower
const LEAST_PAINT_PAUSE = 60; // between two applications of paint during a stroke [ms]
const PAINT_SHARE = 4; // a stroke waits so many times as long as the application takes

interface Stroke {
    place: number;
    before: Float32Array;
}

export class App {
    running = !reducedMotion();
    readonly pace = new Pace(FRAME);
    readonly scene: WorldScene;
    readonly tools: Tools;
    readonly brush: Brush;
    readonly colors = new Colors("strain");
    readonly panel: Panel;
    private readonly undoable: Stroke[] = [];
    private readonly cost = { frame: new Average(), drawing: new Average(), between: new Average() };
    private unpainted = new Set<number>(); // places with paint that the simulation has not got yet
    private paintDue = 0;
    private lastTime?: number;
    private lastNumbers = 0;
    private shown = { now: 0, time: 0 };
    private broken?: string;
    private awakeUntil = 0; // a cloth that stands still is drawn only after somebody did something

    constructor(
        readonly world: World,
        readonly layout: Layout,
        readonly vectors: boolean,
    ) {
        this.brush = { kind: "stiffer", radius: 0.12 * world.tracks[0].diagonal, strength: 0.5 };
        this.scene = new WorldScene(layout.stage, world);
        this.tools = new Tools(world, this.scene, this.brush, {
            said: (words) => layout.say(words),
            painted: (place) => this.painted(place),
            stroke: (place, begins) => this.stroke(place, begins),
            failed: (error) => this.failed(error),
        });
        this.panel = new Panel(this);
        layout.onBlowUp({ reset: () => this.reset(), automatic: () => this.automaticSteps() });
        window.addEventListener("keydown", (event) => this.key(event));
        for (const what of ["pointermove", "pointerdown", "wheel", "keydown", "input", "change", "click", "resize"]) {
            window.addEventListener(what, () => this.wake(), { capture: true, passive: true });
        }
        this.renew();
        requestAnimationFrame((now) => this.loop(now));
    }

    // After cloths have come or gone.
    renew(): void {
        this.tools.drop();
        this.undoable.length = 0;
        this.unpainted.clear();
        this.scene.renew();
        this.panel.renew();
        this.repaint();
        this.wake();
        this.layout.title(this.world.tracks.map(({ name }) => name));
    }

    // ---- The loop

    private loop(now: number): void {
        const seconds = this.lastTime === undefined ? FRAME : (now - this.lastTime) / 1000;
        this.lastTime = now;
        this.cost.between.add(1000 * seconds);
        if (now >= this.paintDue) this.applyPaint();
        if (this.running && !this.broken) this.advance(this.pace.due(seconds));
        if (this.running || now < this.awakeUntil) this.draw();
        if (now - this.lastNumbers > NUMBERS_EVERY) {
            this.lastNumbers = now;
            this.showNumbers();
        }
        requestAnimationFrame((next) => this.loop(next));
    }

    wake(): void {
        this.awakeUntil = performance.now() + AWAKE;
    }

    private draw(): void {
        const start = performance.now();
        if (this.colors.moves) this.repaint();
        this.scene.draw(this.tools.cursor);
        this.cost.drawing.add(performance.now() - start);
    }

    private advance(frames: number): void {
        const begin = performance.now();
        try {
            for (let frame = 0; frame < frames && performance.now() - begin < MOST_WORK; ++frame) {
                const start = performance.now();
                this.world.advance();
                this.cost.frame.add(performance.now() - start);
            }
        } catch (error) {
            this.blewUp(error);
        }
    }

    private blewUp(error: unknown): void {
        if (!(error instanceof SimulationError)) throw error;
        this.broken = error.message;
        this.tools.drop();
        this.layout.showBlowUp(error.message, this.world.substeps === undefined);
    }

    private showNumbers(): void {
        const steps = this.world.tracks.map(({ cloth }) => cloth.substeps);
        this.layout.numbers({
            frame: this.cost.frame.get(),
            steps,
            drawing: this.cost.drawing.get(),
            rate: 1000 / this.cost.between.get(),
            time: this.world.tracks[0].cloth.time,
            pace: this.paceOf(performance.now()),
            vectors: this.vectors,
        });
    }

    // Simulated over real time since the last call; nothing while it stands still.
    private paceOf(now: number): number | undefined {
        const { time } = this.world.tracks[0].cloth;
        const gone = time - this.shown.time;
        const share = (1000 * gone) / (now - this.shown.now);
        this.shown = { now, time };
        return this.running && gone > 0 ? share : undefined;
    }

    repaint(): void {
        this.world.tracks.forEach((track, place) => {
            this.colors.read(track.cloth, track.paint);
            this.scene.paint(place, this.colors.values, this.colors.scale);
        });
        this.layout.legend.show(this.colors.scale);
    }

    // ---- Time

    setRunning(running: boolean): void {
        this.running = running;
        this.panel.showRunning(running);
    }

    step(): void {
        this.setRunning(false);
        if (!this.broken) this.advance(1);
    }

    reset(): void {
        this.attempt(() => {
            this.tools.drop();
            this.world.reset();
            this.broken = undefined;
            this.layout.hideBlowUp();
            this.layout.say("flat and at rest");
        });
    }

    setSubsteps(substeps?: number): void {
        this.attempt(() => this.world.setSubsteps(substeps));
        this.cost.frame.clear();
    }

    private automaticSteps(): void {
        this.panel.showAutomaticSteps();
        this.setSubsteps(undefined);
        this.reset();
    }

    // ---- Choices

    setTool(tool: Tool): void {
        this.tools.tool = tool;
        this.tools.end();
        this.attempt(() => this.world.letGo());
        this.layout.stage.dataset.tool = tool;
        if (tool === "paint" && this.colors.moves) this.setColoring(stiffnessMap(this.world.tracks[0].cloth));
        this.panel.showTool(tool);
    }

    setColoring(id: string): void {
        this.colors.choose(id);
        this.panel.showColoring(id);
        this.repaint();
    }

    setObstacle(obstacle: Obstacle): void {
        this.tools.drop();
        this.attempt(() => {
            this.world.setObstacle(obstacle);
            this.broken = undefined;
            this.layout.hideBlowUp();
        });
        this.panel.showObstacle(this.world.obstacleName);
        this.scene.drawObstacles();
    }

    async setObstacleFile(file: File): Promise<void> {
        const text = new Uint8Array(await file.arrayBuffer());
        this.setObstacle({ name: "mesh", mesh: { text, file: file.name } });
    }

    async openCloth(place: number, file: File): Promise<void> {
        const json = new Uint8Array(await file.arrayBuffer());
        this.open(place, json, file.name.replace(/\.json$/i, ""));
    }

    open(place: number, json: Uint8Array, name: string): void {
        this.attempt(() => {
            const pins = this.world.tracks[0];
            const shares = [...pins.pins.keys()].map((particle) => pins.shareOf(particle));
            const track = this.world.open(place, json, name);
            for (const share of shares) track.pin(track.particleAt(share));
            this.world.reset();
            this.renew();
        });
    }

    closeSecond(): void {
        if (this.world.tracks.length < 2) return;
        this.world.close(1);
        this.renew();
    }

    setOverlaid(overlaid: boolean): void {
        this.scene.overlaid = overlaid;
        this.scene.place();
        this.scene.fit();
    }

    download(): void {
        this.attempt(() => {
            this.applyPaint();
            const { cloth, name } = this.world.tracks[0];
            const address = URL.createObjectURL(new Blob([cloth.json()], { type: "application/json" }));
            const link = document.createElement("a");
            link.href = address;
            link.download = `${name.replace(/[^\p{L}\p{N}._ -]/gu, "_") || "cloth"}-edited.json`;
            link.click();
            setTimeout(() => URL.revokeObjectURL(address), 10000);
        });
    }

    // ---- Paint

    private stroke(place: number, begins: boolean): void {
        if (begins) {
            this.remember(place);
            this.paintDue = performance.now() + LEAST_PAINT_PAUSE;
        } else {
            this.applyPaint();
        }
    }

    private remember(place: number): void {
        this.undoable.push({ place, before: this.world.tracks[place].paint.slice() });
        if (this.undoable.length > MOST_UNDO) this.undoable.shift();
        this.panel.showUndo(true);
    }

    private painted(place: number): void {
        this.unpainted.add(place);
    }

    private applyPaint(): void {
        if (this.unpainted.size === 0) return;
        const start = performance.now();
        this.attempt(() => {
            for (const place of this.unpainted) this.world.applyPaint(this.world.tracks[place]);
        });
        this.unpainted.clear();
        this.repaint();
        const end = performance.now();
        this.paintDue = end + Math.max(LEAST_PAINT_PAUSE, PAINT_SHARE * (end - start));
    }

    fillAll(): void {
        this.remember(0);
        this.world.fill(this.world.tracks[0], this.brush);
        this.painted(0);
        this.applyPaint();
    }

    undo(): void {
        const last = this.undoable.pop();
        if (!last) return;
        this.world.tracks[last.place].paint.set(last.before);
        this.painted(last.place);
        this.applyPaint();
        this.panel.showUndo(this.undoable.length > 0);
    }

    // ---- The whole page

    attempt(work: () => void): void {
        try {
            work();
        } catch (error) {
            this.failed(error);
        }
    }

    failed(error: unknown): void {
        this.layout.warn(messageOf(error));
    }

    private key(event: KeyboardEvent): void {
        const inField = event.target instanceof HTMLElement && event.target.matches("input, select, textarea, button, summary");
        if (event.ctrlKey && event.key === "z") this.undo();
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const actions: Record<string, () => void> = {
            " ": () => this.setRunning(!this.running),
            ".": () => this.step(),
            r: () => this.reset(),
            "1": () => this.setTool("pull"),
            "2": () => this.setTool("pin"),
            "3": () => this.setTool("paint"),
            "4": () => this.setTool("turn"),
        };
        const action = actions[event.key];
        if (!action || (inField && !/^[1-4r.]$/.test(event.key))) return;
        if (event.target instanceof HTMLSelectElement) return; // letters choose there
        event.preventDefault();
        action();
    }
}
