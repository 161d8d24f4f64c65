// Hands: mouse, finger or keyboard, on the cloth.

import { Vector3 } from "three";
import type { Brush } from "./brush";
import type { Picked, WorldScene } from "./scene";
import type { World } from "./world";

export type Tool = "pull" | "pin" | "paint" | "turn";

export interface ToolListener {
    said(words: string): void; // what has happened
    painted(place: number): void; // a dab was made
    stroke(place: number, begins: boolean): void;
    failed(error: unknown): void;
}

interface Drag {
    pointer: number;
    place: number;
    start: Vector3; // of the plane that the hand moves in
}

const CURSOR_STEP = 0.04; // of the sheet, per key press
const PULL_STEP = 0.04; // of the diagonal

export class Tools {
    tool: Tool = "pull";
    cursor?: { place: number; particle: number };
    private drag?: Drag;
    private keyGrab = false;

    constructor(
        private readonly world: World,
        private readonly scene: WorldScene,
        readonly brush: Brush,
        private readonly listener: ToolListener,
    ) {
        const box = scene.stage.container;
        box.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
        window.addEventListener("pointermove", (event) => this.moved(event));
        window.addEventListener("pointerup", (event) => this.up(event));
        window.addEventListener("pointercancel", (event) => this.up(event));
        box.addEventListener("keydown", (event) => this.key(event), { capture: true });
    }

    get busy(): boolean {
        return this.drag !== undefined;
    }

    // ---- Mouse and finger

    private down(event: PointerEvent): void {
        const canvas = this.scene.stage.renderer.domElement;
        if (event.target !== canvas || event.button !== 0 || this.tool === "turn") return;
        if (this.drag) return; // the second finger turns and zooms nothing while the first holds
        const picked = this.scene.pick(event.clientX, event.clientY);
        if (!picked) return;
        this.letGoOfKey();
        this.scene.stage.controls.enabled = false;
        this.cursor = undefined;
        this.begin(picked, event.pointerId);
    }

    private begin(picked: Picked, pointer: number): void {
        const track = this.world.tracks[picked.place];
        this.drag = { pointer, place: picked.place, start: picked.point };
        this.guarded(() => {
            if (this.tool === "pull" && this.world.grab(track, picked.particle)) {
                this.drag!.start = this.scene.toPicture(picked.place, track.hand?.at ?? track.position(picked.particle));
            } else if (this.tool === "pin") {
                this.togglePin(picked.place, picked.particle);
            } else if (this.tool === "paint") {
                this.listener.stroke(picked.place, true);
                this.dab(picked.place, picked.particle);
            }
        });
    }

    private moved(event: PointerEvent): void {
        if (!this.drag || event.pointerId !== this.drag.pointer) return;
        if (this.tool === "pull") {
            const at = this.scene.planePoint(event.clientX, event.clientY, this.drag.start);
            this.world.pullTo(this.scene.toTrack(this.drag.place, at));
        } else if (this.tool === "paint") {
            const picked = this.scene.pick(event.clientX, event.clientY);
            if (picked?.place === this.drag.place) this.dab(picked.place, picked.particle);
        }
    }

    private up(event: PointerEvent): void {
        if (!this.drag || event.pointerId !== this.drag.pointer) return;
        const { place } = this.drag;
        this.drag = undefined;
        this.scene.stage.controls.enabled = true;
        this.guarded(() => {
            if (this.tool === "pull") this.world.letGo();
            if (this.tool === "paint") this.listener.stroke(place, false);
        });
    }

    // ---- Keyboard: Shift and arrows lead a cursor over the sheet, Enter uses the tool there

    private key(event: KeyboardEvent): void {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (step && (event.shiftKey || this.keyGrab)) {
            if (this.keyGrab && !event.shiftKey) this.pullBy(step[0], -step[1]);
            else this.moveCursor(step[0], step[1]);
        } else if (event.key === "Enter") {
            this.useAtCursor();
        } else if (event.key === "Escape" && (this.keyGrab || this.cursor)) {
            this.letGoOfKey();
            this.cursor = undefined;
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }

    private moveCursor(right: number, down: number): void {
        const { place, particle } = this.cursor ?? { place: 0, particle: this.world.tracks[0].particleAt([0.5, 0.5]) };
        const track = this.world.tracks[place];
        const clamp = (value: number) => Math.min(1, Math.max(0, value));
        const [u, v] = track.shareOf(particle);
        let next = particle;
        // A coarse mesh may need more than one step to the next particle.
        for (let steps = 1; next === particle && steps <= 8; ++steps) {
            const step = steps * CURSOR_STEP;
            next = track.particleAt([clamp(u + right * step), clamp(v + down * step)]);
        }
        this.cursor = { place, particle: next };
        const [nu, nv] = track.shareOf(next);
        this.listener.said(`cursor at ${Math.round(100 * nu)} % of the length, ${Math.round(100 * nv)} % of the width`);
    }

    private useAtCursor(): void {
        if (this.keyGrab) return this.letGoOfKey();
        this.cursor ??= { place: 0, particle: this.world.tracks[0].particleAt([0.5, 0.5]) };
        const { place, particle } = this.cursor;
        this.guarded(() => {
            if (this.tool === "pin") this.togglePin(place, particle);
            if (this.tool === "paint") {
                this.listener.stroke(place, true);
                this.dab(place, particle);
                this.listener.stroke(place, false);
            }
            if (this.tool === "pull" && this.world.grab(this.world.tracks[place], particle)) {
                this.keyGrab = true;
                this.listener.said("held: arrow keys pull, Enter lets go");
            }
        });
    }

    private pullBy(right: number, up: number): void {
        const { camera } = this.scene.stage;
        const track = this.world.tracks[this.cursor?.place ?? 0];
        if (!track.hand) return;
        const step = PULL_STEP * track.diagonal;
        const across = new Vector3().setFromMatrixColumn(camera.matrixWorld, 0).multiplyScalar(right * step);
        const upwards = new Vector3().setFromMatrixColumn(camera.matrixWorld, 1).multiplyScalar(up * step);
        const goal = new Vector3(...track.hand.goal).add(across).add(upwards);
        this.world.pullTo([goal.x, goal.y, goal.z]);
    }

    private letGoOfKey(): void {
        if (!this.keyGrab) return;
        this.keyGrab = false;
        this.guarded(() => this.world.letGo());
        this.listener.said("let go");
    }

    // Ends what goes on.
    end(): void {
        this.keyGrab = false;
        this.drag = undefined;
        this.scene.stage.controls.enabled = true;
    }

    // Before the cloths change.
    drop(): void {
        this.end();
        this.cursor = undefined;
    }

    private togglePin(place: number, particle: number): void {
        const pinned = this.world.togglePin(this.world.tracks[place], particle);
        this.listener.said(pinned ? "pinned" : "free");
    }

    private dab(place: number, particle: number): void {
        if (this.world.dab(this.world.tracks[place], particle, this.brush) > 0) this.listener.painted(place);
    }

    private guarded(work: () => void): void {
        try {
            work();
        } catch (error) {
            this.listener.failed(error);
        }
    }
}
