// What runs: one cloth, or two in lockstep, with pins, a hand, air and paint. It draws nothing.

import { type Brush, dab, factors, fill } from "./brush";
import type { Engine, Environment, LiveCloth, Vector } from "./wasm";

export const FRAME = 1 / 60; // [s]
// Diagonals of the sheet per second, and the strain, wherever in the cloth, at which the hand gives way. Cloth that
// stiffens (triangles) is handled with more care.
const HAND = { fastest: 5, stretch: 1 };
const CAREFUL_HAND = { fastest: 1, stretch: 0.2 };
const FINER = 3; // times as many sub-steps where the safe number was not enough
const FINER_FRAMES = 20; // for so long
const HAND_SHARE = 0.03; // radius of the patch that a hand holds, in diagonals

export interface Swing {
    reach: number; // to either side [m]
    rate: number; // [1/s]
    axis: 0 | 1 | 2;
}

interface Pin {
    hold: number;
    home: Vector; // where it is while nothing swings
}

// One cloth, and what is done to it.
export class Track {
    finer = 0; // frames for which more sub-steps than usual are taken
    readonly pins = new Map<number, Pin>();
    readonly paint: Float32Array;
    // `pin`: the particle was pinned, and stays where the hand leaves it.
    hand?: { hold: number; at: Vector; goal: Vector; bearable: number; pin?: number };

    constructor(
        readonly cloth: LiveCloth,
        readonly name: string,
        readonly json: Uint8Array,
    ) {
        this.paint = new Float32Array(cloth.particleCount);
    }

    private get handling() {
        return this.cloth.stiffens ? CAREFUL_HAND : HAND;
    }

    get diagonal(): number {
        return Math.hypot(this.cloth.sheet.length, this.cloth.sheet.width);
    }

    particleAt(share: [number, number]): number {
        const { rest, sheet, particleCount } = this.cloth;
        let nearest = 0;
        let least = Infinity;
        for (let p = 0; p < particleCount; ++p) {
            const u = rest[2 * p] - share[0] * sheet.length;
            const v = rest[2 * p + 1] - share[1] * sheet.width;
            if (u * u + v * v < least) [least, nearest] = [u * u + v * v, p];
        }
        return nearest;
    }

    shareOf(particle: number): [number, number] {
        const { rest, sheet } = this.cloth;
        return [rest[2 * particle] / sheet.length, rest[2 * particle + 1] / sheet.width];
    }

    particlesAround(particle: number, radius: number): number[] {
        const { rest, particleCount } = this.cloth;
        const [u, v] = [rest[2 * particle], rest[2 * particle + 1]];
        const near = (p: number) => Math.hypot(rest[2 * p] - u, rest[2 * p + 1] - v) <= radius;
        return Array.from({ length: particleCount }, (_, p) => p).filter((p) => p === particle || near(p));
    }

    position(particle: number): Vector {
        return [...this.cloth.positions().subarray(3 * particle, 3 * particle + 3)] as Vector;
    }

    pin(particle: number): void {
        const hold = this.pins.has(particle) ? undefined : this.cloth.hold([particle]);
        if (hold !== undefined) this.pins.set(particle, { hold, home: this.cloth.center(hold) });
    }

    unpin(particle: number): void {
        const pin = this.pins.get(particle);
        if (pin === undefined) return;
        this.cloth.release(pin.hold);
        this.pins.delete(particle);
    }

    // Where pins are after the cloth was put elsewhere.
    rehome(): void {
        for (const pin of this.pins.values()) pin.home = this.cloth.center(pin.hold);
    }

    grab(particle: number): boolean {
        this.letGo();
        const pinned = this.pins.has(particle);
        this.unpin(particle);
        const hold = this.cloth.hold(this.particlesAround(particle, HAND_SHARE * this.diagonal));
        if (hold === undefined) return false;
        const at = this.cloth.center(hold);
        const bearable = Math.max(this.handling.stretch, 1.5 * this.stretch());
        this.hand = { hold, at, goal: at, bearable, pin: pinned ? particle : undefined };
        return true;
    }

    letGo(): void {
        const hand = this.hand;
        if (!hand) return;
        this.cloth.release(hand.hold);
        this.hand = undefined;
        if (hand.pin !== undefined) this.pin(hand.pin);
    }

    private stretch(): number {
        return this.cloth.strain().reduce((most, strain) => Math.max(most, strain), 0);
    }

    // A hand that jumps, or pulls without mercy, would tear any cloth apart.
    moveHand(seconds: number): void {
        if (!this.hand) return;
        const { at, goal, hold, bearable } = this.hand;
        const way = goal.map((value, i) => value - at[i]);
        const most = (this.handling.fastest * this.diagonal * seconds) / Math.max(Math.hypot(...way), 1e-30);
        const ease = Math.max(-0.5, Math.min(1, 2 - (2 * this.stretch()) / bearable));
        this.hand.at = at.map((value, i) => value + ease * Math.min(1, most) * way[i]) as Vector;
        this.cloth.move(hold, this.hand.at);
    }
}

export interface Obstacle {
    name: string; // floor, sphere, table, animal; empty for none
    mesh?: { text: Uint8Array; file: string };
}

export class World {
    readonly tracks: Track[] = [];
    swing: Swing = { reach: 0, rate: 0.5, axis: 0 };
    gusts = 0; // 0 to 1
    substeps?: number; // automatic where there is none
    private swingTime = 0; // [s]
    private selfCollision = false;
    private obstacle: Obstacle = { name: "" };

    constructor(
        private readonly engine: Engine,
        readonly environment: Environment,
    ) {}

    // Adds a cloth, or replaces the one at this place. Throws SimulationError, and then changes
    // nothing.
    open(place: number, json: Uint8Array, name: string): Track {
        const cloth = this.engine.open(json, name);
        const track = new Track(cloth, name, json);
        try {
            this.equip(track);
        } catch (error) {
            cloth.close();
            throw error;
        }
        this.tracks[place]?.cloth.close();
        this.tracks[place] = track;
        return track;
    }

    close(place: number): void {
        this.tracks[place]?.cloth.close();
        this.tracks.splice(place, 1);
    }

    private equip({ cloth }: Track): void {
        cloth.setFrame(FRAME, this.substeps);
        cloth.setAir(this.environment);
        if (this.selfCollision) cloth.setSelfCollision(true);
        this.giveObstacle(cloth);
    }

    // ---- Time

    // Advances all by one frame, or throws SimulationError where one blew up.
    advance(): void {
        if (this.swing.reach > 0) this.swingTime += FRAME;
        for (const track of this.tracks) {
            this.swingPins(track);
            track.moveHand(FRAME);
            if (this.gusts > 0) track.cloth.setAir(this.gustyAir(track.cloth.time));
            this.advanceTrack(track);
        }
    }

    // A step that is safe for a cloth at rest may be too long for one that is pulled far. A frame that
    // failed has changed nothing, so it is tried again with more sub-steps.
    private advanceTrack(track: Track): void {
        const { cloth } = track;
        if (track.finer > 0 && --track.finer === 0) this.refine(track, this.substeps);
        try {
            cloth.advance(1);
        } catch (error) {
            if (this.substeps !== undefined || track.finer > 0) throw error;
            track.finer = FINER_FRAMES;
            this.refine(track, FINER * cloth.substeps);
            cloth.advance(1);
        }
    }

    // A new number of sub-steps forgets where pins and hand were to go.
    private refine(track: Track, substeps?: number): void {
        track.cloth.setFrame(FRAME, substeps);
        this.swingPins(track);
        if (track.hand) track.cloth.move(track.hand.hold, track.hand.at);
    }

    private swingPins(track: Track): void {
        if (this.swing.reach === 0) return;
        const away = this.swing.reach * Math.sin(2 * Math.PI * this.swing.rate * this.swingTime);
        for (const { hold, home } of track.pins.values()) {
            const target = [...home] as Vector;
            target[this.swing.axis] += away;
            track.cloth.move(hold, target);
        }
    }

    // Sums of sines that never repeat soon, between no wind and twice the wind.
    private gustyAir(time: number): Environment {
        const gust = (Math.sin(1.7 * time) + Math.sin(4.1 * time + 1) + Math.sin(0.61 * time + 2)) / 3;
        const factor = 1 + this.gusts * gust;
        return { ...this.environment, wind: this.environment.wind.map((w) => w * factor) as Vector };
    }

    setSwing(swing: Swing): void {
        this.swing = swing;
        if (swing.reach > 0) return;
        this.swingTime = 0;
        for (const { cloth, pins } of this.tracks) {
            for (const { hold, home } of pins.values()) cloth.move(hold, home);
        }
    }

    // Flat and at rest, with the pins that there are.
    reset(): void {
        this.letGo();
        this.swingTime = 0;
        for (const track of this.tracks) {
            if (track.finer > 0) track.cloth.setFrame(FRAME, this.substeps);
            track.finer = 0;
            track.cloth.reset();
            track.rehome();
        }
    }

    // ---- What acts on them

    applyAir(): void {
        for (const { cloth } of this.tracks) cloth.setAir(this.environment);
    }

    setSubsteps(substeps?: number): void {
        for (const track of this.tracks) {
            track.cloth.setFrame(FRAME, substeps);
            track.finer = 0;
        }
        this.substeps = substeps;
    }

    setSelfCollision(on: boolean): void {
        for (const { cloth } of this.tracks) cloth.setSelfCollision(on);
        this.selfCollision = on;
    }

    // The cloths begin anew above it, without pins.
    setObstacle(obstacle: Obstacle): void {
        this.letGo();
        const before = this.obstacle;
        this.obstacle = obstacle;
        try {
            for (const { cloth } of this.tracks) this.giveObstacle(cloth);
        } catch (error) {
            this.obstacle = before;
            throw error;
        }
        if (obstacle.name !== "") this.unpinAll();
        for (const track of this.tracks) track.rehome();
    }

    get obstacleName(): string {
        return this.obstacle.name;
    }

    private giveObstacle(cloth: LiveCloth): void {
        const { mesh, name } = this.obstacle;
        if (mesh) cloth.setObstacleMesh(mesh.text, mesh.file);
        else cloth.setObstacle(name);
    }

    // ---- Pins and the hand: at the same place of every sheet

    togglePin(track: Track, particle: number): boolean {
        const pinned = track.pins.has(particle);
        const share = track.shareOf(particle);
        for (const other of this.tracks) {
            const own = other === track ? particle : other.particleAt(share);
            if (pinned) other.unpin(own);
            else other.pin(own);
        }
        return !pinned;
    }

    pinNamed(name: string): void {
        for (const track of this.tracks) {
            for (const particle of track.cloth.particlesNamed(name)) track.pin(particle);
        }
    }

    unpinAll(): void {
        for (const track of this.tracks) {
            for (const particle of [...track.pins.keys()]) track.unpin(particle);
        }
    }

    grab(track: Track, particle: number): boolean {
        const share = track.shareOf(particle);
        let held = false;
        for (const other of this.tracks) {
            const own = other === track ? particle : other.particleAt(share);
            held = other.grab(own) || held;
        }
        return held;
    }

    pullTo(goal: Vector): void {
        for (const { hand } of this.tracks) if (hand) hand.goal = goal;
    }

    letGo(): void {
        for (const track of this.tracks) track.letGo();
    }

    // ---- Paint

    dab(track: Track, particle: number, brush: Brush): number {
        const { rest } = track.cloth;
        return dab(track.paint, rest, rest[2 * particle], rest[2 * particle + 1], brush);
    }

    fill(track: Track, brush: Brush): void {
        fill(track.paint, brush);
    }

    // Makes the simulation follow what was painted.
    applyPaint(track: Track): void {
        track.cloth.paint(factors(track.paint));
    }
}
