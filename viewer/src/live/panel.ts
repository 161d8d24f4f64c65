// The controls beside the cloth.

import { element } from "../shared/dom";
import type { App } from "./app";
import type { BrushKind } from "./brush";
import { coloringsOf } from "./coloring";
import { button, choiceButtons, fileButton, group, row, select, type Select, slider, toggle } from "./fields";
import type { Tool } from "./tools";

const DEGREE = Math.PI / 180;

export class Panel {
    private readonly play = button("Pause", () => this.app.setRunning(!this.app.running), "Space");
    private readonly undo = button("Undo", () => this.app.undo(), "Ctrl+Z");
    private readonly closeSecond = button("Close the second", () => this.app.closeSecond());
    private readonly tools;
    private readonly obstacle: Select;
    private readonly coloring: Select;
    private readonly steps: Select;
    private readonly overlaid;

    constructor(private readonly app: App) {
        this.tools = choiceButtons(
            "What the pointer does",
            [
                { value: "pull", label: "Pull", hint: "1: drag any point; drag beside the cloth to turn the view" },
                { value: "pin", label: "Pin", hint: "2: click to pin a point, or to free it" },
                { value: "paint", label: "Paint", hint: "3: paint stiffness" },
                { value: "turn", label: "Turn", hint: "4: only turn the view" },
            ],
            "pull",
            (tool) => app.setTool(tool as Tool),
        );
        this.obstacle = select("Drop it on", this.obstacles(""), (name) => app.setObstacle({ name }));
        this.coloring = select("Colours", [], (id) => app.setColoring(id));
        this.steps = select("Sub-steps", this.stepChoices(), (value) =>
            app.setSubsteps(value === "auto" ? undefined : Number(value)),
        );
        this.overlaid = toggle("One over the other", false, (on) => app.setOverlaid(on));
        const wide = matchMedia("(min-width: 52rem)").matches;
        app.layout.panel.append(
            element("div", { class: "first" }, this.tools.box, this.timeRow()),
            this.colorGroup(),
            this.airGroup(wide),
            this.paintGroup(wide),
            this.holdGroup(wide),
            this.obstacleGroup(wide),
            this.clothGroup(wide),
            this.keys(),
        );
        this.undo.disabled = true;
        this.showRunning(app.running);
    }

    // ---- Groups

    private timeRow(): HTMLElement {
        this.play.className = "primary";
        return row(
            this.play,
            button("Step", () => this.app.step(), ". : one frame"),
            button("Begin anew", () => this.app.reset(), "R: flat and at rest, pins stay"),
        );
    }

    private colorGroup(): HTMLElement {
        return element("div", { class: "group first" }, this.coloring.box);
    }

    private airGroup(open: boolean): HTMLElement {
        const { world } = this.app;
        const { environment } = world;
        const apply = () => this.app.attempt(() => world.applyAir());
        const [x, , z] = environment.wind;
        let speed = Math.hypot(x, z);
        let heading = speed > 0 ? Math.atan2(z, x) / DEGREE : -90;
        const blow = () => {
            const angle = heading * DEGREE;
            environment.wind = [speed * Math.cos(angle), environment.wind[1], speed * Math.sin(angle)];
            apply();
        };
        const gravity = slider({
            label: "Gravity", unit: "m/s²", low: 0, high: 20, value: -environment.gravity[1],
            onInput: (value) => {
                environment.gravity = [environment.gravity[0], -value, environment.gravity[2]];
                apply();
            },
        });
        const wind = slider({ label: "Wind", unit: "m/s", low: 0, high: 30, value: speed, onInput: (value) => { speed = value; blow(); } });
        const from = slider({
            label: "Wind towards", low: -180, high: 180, value: heading, text: compass,
            onInput: (value) => { heading = value; blow(); },
        });
        const gusts = slider({ label: "Gusts", unit: "%", low: 0, high: 100, value: 0, onInput: (value) => { world.gusts = value / 100; apply(); } });
        const drag = slider({
            label: "Drag of the air", unit: "1/s", low: 0, high: 8, value: environment.drag,
            onInput: (value) => { environment.drag = value; apply(); },
        });
        return group("Air and gravity", open, gravity.box, wind.box, from.box, gusts.box, drag.box);
    }

    private paintGroup(open: boolean): HTMLElement {
        const { brush, world } = this.app;
        const diagonal = world.tracks[0].diagonal;
        const kind = choiceButtons(
            "Brush",
            [
                { value: "stiffer", label: "Stiffer" },
                { value: "softer", label: "Softer" },
                { value: "restore", label: "As it was" },
            ],
            brush.kind,
            (value) => { brush.kind = value as BrushKind; this.app.setTool("paint"); },
        );
        const radius = slider({
            label: "Radius", unit: "m", low: 0.02 * diagonal, high: 0.5 * diagonal, value: brush.radius, logarithmic: true,
            onInput: (value) => (brush.radius = value),
        });
        const strength = slider({
            label: "Strength of a dab", low: 0.05, high: 2, value: brush.strength, logarithmic: true,
            text: (value) => `×${(2 ** value).toFixed(2)}`,
            onInput: (value) => (brush.strength = value),
        });
        const all = button("Dab the whole cloth", () => this.app.fillAll());
        return group("Paint stiffness", open, kind.box, radius.box, strength.box, row(all, this.undo));
    }

    private holdGroup(open: boolean): HTMLElement {
        const { app } = this;
        const { world } = app;
        const pin = (...names: string[]) => () =>
            app.attempt(() => {
                world.unpinAll();
                for (const name of names) world.pinNamed(name);
            });
        const largest = world.tracks[0].diagonal;
        const swing = (change: Partial<typeof world.swing>) => app.attempt(() => world.setSwing({ ...world.swing, ...change }));
        const reach = slider({ label: "Swing the pins by", unit: "m", low: 0, high: 0.5 * largest, value: 0, onInput: (value) => swing({ reach: value }) });
        const rate = slider({ label: "Swings", unit: "per second", low: 0.1, high: 3, value: 0.5, logarithmic: true, onInput: (value) => swing({ rate: value }) });
        const axis = select(
            "Swing",
            [{ value: "0", label: "left and right" }, { value: "2", label: "to and fro" }, { value: "1", label: "up and down" }],
            (value) => swing({ axis: Number(value) as 0 | 1 | 2 }),
        );
        return group(
            "Pins", open,
            row(
                button("Two corners", pin("corner-nw", "corner-ne")),
                button("One edge", pin("edge-north")),
                button("Four corners", pin("corner-nw", "corner-ne", "corner-sw", "corner-se")),
                button("None", pin()),
            ),
            reach.box, rate.box, axis.box,
        );
    }

    private obstacleGroup(open: boolean): HTMLElement {
        const mesh = fileButton("Own mesh (OBJ) …", ".obj", (file) => void this.app.setObstacleFile(file));
        const self = toggle("The cloth meets itself", false, (on) => this.app.attempt(() => this.app.world.setSelfCollision(on)));
        return group("Drop it on something", open, this.obstacle.box, mesh, self.box);
    }

    private clothGroup(open: boolean): HTMLElement {
        const speed = select(
            "Speed",
            [{ value: "1", label: "as in life" }, { value: "0.5", label: "half" }, { value: "0.25", label: "a quarter" }, { value: "0.1", label: "a tenth" }],
            (value) => (this.app.pace.speed = Number(value)),
        );
        const second = fileButton("Second cloth …", ".json", (file) => void this.app.openCloth(1, file));
        const original = button("Compare with the file", () => {
            const [{ json, name }] = this.app.world.tracks;
            this.app.open(1, json, `${name}, as in the file`);
        });
        const save = button("Download cloth.json", () => this.app.download());
        save.className = "primary";
        const other = fileButton("Open another …", ".json", (file) => void this.app.openCloth(0, file));
        return group("Cloth and time", open, row(save, other), row(original, second, this.closeSecond), this.overlaid.box, speed.box, this.steps.box);
    }

    private keys(): HTMLElement {
        const lines = [
            ["Space", "run or pause"], [".", "one frame"], ["R", "begin anew"], ["1 – 4", "pull, pin, paint, turn"],
            ["Arrows", "turn the view, with the cloth in focus"], ["+ −", "zoom"], ["Home", "whole view"],
            ["Shift + arrows", "lead a cursor over the cloth"], ["Enter", "pull, pin or paint at the cursor; then arrows pull"],
            ["Ctrl + Z", "undo paint"],
        ];
        const list = element("dl", { class: "keys" });
        for (const [key, meaning] of lines) list.append(element("dt", {}, key), element("dd", {}, meaning));
        return group("Keys", false, list);
    }

    // ---- What the page shows of its state

    renew(): void {
        this.coloring.offer(coloringsOf(this.app.world.tracks[0].cloth).map(({ id, label }) => ({ value: id, label })));
        this.coloring.set(this.app.colors.chosen);
        this.closeSecond.disabled = this.app.world.tracks.length < 2;
        this.overlaid.box.hidden = this.app.world.tracks.length < 2;
        this.showUndo(false);
    }

    showRunning(running: boolean): void {
        this.play.textContent = running ? "Pause" : "Run";
    }
    showTool(tool: Tool): void {
        this.tools.set(tool);
    }
    showColoring(id: string): void {
        this.coloring.set(id);
    }
    showUndo(there: boolean): void {
        this.undo.disabled = !there;
    }
    showObstacle(name: string): void {
        this.obstacle.offer(this.obstacles(name));
        this.obstacle.set(name);
    }
    showAutomaticSteps(): void {
        this.steps.set("auto");
    }

    private obstacles(present: string) {
        const choices = [
            { value: "", label: "nothing" }, { value: "sphere", label: "sphere" }, { value: "table", label: "table" },
            { value: "animal", label: "animal" }, { value: "floor", label: "floor" },
        ];
        return present === "mesh" ? [...choices, { value: "mesh", label: "own mesh" }] : choices;
    }

    private stepChoices() {
        const counts = [1, 2, 4, 8, 16, 32, 64, 128].map((count) => ({ value: String(count), label: `${count} a frame` }));
        return [{ value: "auto", label: "as many as are safe" }, ...counts];
    }
}

function compass(angle: number): string {
    const names = ["right", "viewer, right", "viewer", "viewer, left", "left", "back, left", "back", "back, right"];
    const turn = ((angle % 360) + 360) % 360;
    return `${names[Math.round(turn / 45) % 8]} (${angle.toFixed(0)}°)`;
}

