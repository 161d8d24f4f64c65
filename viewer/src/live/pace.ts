// How many frames of the simulation a frame of the screen needs, and what they cost.

const MOST_AT_ONCE = 4; // after a pause of the browser, the cloth does not catch up
const FOLLOW = 0.1; // how fast averages follow

export class Pace {
    speed = 1; // of time; 0.25 is slow motion
    private waiting = 0; // time that is not simulated yet [s]

    constructor(private readonly frame: number) {}

    // Frames that are due after `seconds` on the clock. A screen that is about as fast as the
    // simulation gets one frame each, so that motion does not judder.
    due(seconds: number): number {
        const gone = seconds * this.speed;
        const even = Math.abs(gone - this.frame) < 0.2 * this.frame;
        this.waiting += even ? this.frame : gone;
        const frames = Math.min(Math.floor(this.waiting / this.frame + 1e-6), MOST_AT_ONCE);
        this.waiting -= frames * this.frame;
        if (this.waiting >= this.frame) this.waiting = 0;
        return frames;
    }
}

// A moving average; nothing before the first value.
export class Average {
    private value?: number;

    add(value: number): void {
        this.value = this.value === undefined ? value : this.value + FOLLOW * (value - this.value);
    }
    get(): number {
        return this.value ?? Number.NaN;
    }
    clear(): void {
        this.value = undefined;
    }
}
