// The simulation: viewer/wasm/exports.cpp as a WebAssembly module, behind types.

type Exports = Record<string, (...values: number[]) => number> & { memory: WebAssembly.Memory };

// What the module asks of its surroundings: it has no files, no environment, and cannot end anything.
function surroundings(memory: () => WebAssembly.Memory) {
    const setCount = (at: number, value: number) =>
        new DataView(memory().buffer).setUint32(at, value, true);
    const refuse = () => 8; // EBADF
    return {
        env: { emscripten_notify_memory_growth: () => {} },
        wasi_snapshot_preview1: {
            proc_exit: (code: number) => {
                throw new Error(`the simulation ended itself with ${code}`);
            },
            fd_close: refuse,
            fd_seek: refuse,
            fd_write: refuse,
            environ_get: () => 0,
            environ_sizes_get: (count: number, bytes: number) => {
                setCount(count, 0);
                setCount(bytes, 0);
                return 0;
            },
        },
    };
}

// The module uses vectors of four floats where the browser has them. This one adds two of them.
const VECTOR_PROBE = new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
    253, 98, 11,
]);

export function hasVectors(): boolean {
    return WebAssembly.validate(VECTOR_PROBE);
}

// What the simulation says to bad input, and to a cloth that blew up.
export class SimulationError extends Error {
    override name = "SimulationError";
}

export type Vector = [number, number, number];

export interface Environment {
    gravity: Vector; // [m/s^2]
    wind: Vector; // [m/s]
    drag: number; // [1/s]
}

export interface FieldMap {
    name: string; // for instance stretch_warp
    unit: string;
}

export interface Surface {
    points: Float32Array;
    triangles: Uint32Array;
}

export class Engine {
    private constructor(readonly exports: Exports) {}

    static async load(bytes: BufferSource): Promise<Engine> {
        let memory: WebAssembly.Memory;
        const imports = surroundings(() => memory);
        const { instance } = await WebAssembly.instantiate(bytes, imports);
        const exports = instance.exports as Exports;
        memory = exports.memory;
        exports._initialize();
        return new Engine(exports);
    }

    // Throws SimulationError that names the file.
    open(json: Uint8Array | string, name: string): LiveCloth {
        const bytes = typeof json === "string" ? new TextEncoder().encode(json) : json;
        const page = this.withBytes(bytes, (at) =>
            this.withText(name, (text) => this.exports.live_open(at, bytes.length, text)),
        );
        if (page === 0) throw this.error();
        return new LiveCloth(this, page);
    }

    error(): SimulationError {
        return new SimulationError(this.text(this.exports.live_error()));
    }

    check(worked: number): void {
        if (!worked) throw this.error();
    }

    // Ends at the first zero byte.
    text(at: number): string {
        const bytes = new Uint8Array(this.exports.memory.buffer, at);
        return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
    }

    // Views of its memory. They end when it grows, so what is kept is copied.
    floats(at: number, count: number): Float32Array {
        return new Float32Array(this.exports.memory.buffer, at, count);
    }
    integers(at: number, count: number): Uint32Array {
        return new Uint32Array(this.exports.memory.buffer, at, count);
    }

    withBytes<Result>(bytes: Uint8Array, use: (at: number) => Result): Result {
        const at = this.exports.live_allocate(bytes.length || 1);
        if (at === 0) throw new SimulationError("out of memory; use a smaller cloth or obstacle");
        try {
            new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
            return use(at);
        } finally {
            this.exports.live_free(at);
        }
    }

    withText<Result>(text: string, use: (at: number) => Result): Result {
        return this.withBytes(new TextEncoder().encode(`${text.replaceAll("\0", "?")}\0`), use);
    }
}

// One cloth that runs. Every function that fails throws SimulationError and changes nothing.
export class LiveCloth {
    readonly particleCount: number;
    readonly rest: Float32Array; // u and v of every particle [m]
    readonly sheet: { length: number; width: number; mass: number };
    readonly stiffens: boolean; // when it is stretched, so that no step is safe in every shape
    readonly triangles: Uint32Array;
    readonly edges: Uint32Array;

    constructor(
        private readonly engine: Engine,
        private readonly page: number,
    ) {
        const { exports } = engine;
        this.particleCount = exports.live_particle_count(page);
        this.rest = engine.floats(exports.live_rest(page), 2 * this.particleCount).slice();
        const [length, width, mass] = [0, 1, 2].map((which) => exports.live_sheet(page, which));
        this.sheet = { length, width, mass };
        this.stiffens = exports.live_stiffens(page) !== 0;
        this.triangles = this.indices("triangle", 3);
        this.edges = this.indices("edge", 2);
    }

    close(): void {
        this.engine.exports.live_close(this.page);
    }

    // ---- Running

    advance(frames = 1): void {
        this.engine.check(this.engine.exports.live_advance(this.page, frames));
    }
    // Flat and at rest, `height` above the origin; what is held goes back with it.
    reset(height = 0): void {
        this.engine.check(this.engine.exports.live_reset(this.page, height));
    }
    // Without a number of sub-steps, as many as are safe.
    setFrame(dt: number, substeps?: number): void {
        this.engine.check(this.engine.exports.live_set_frame(this.page, dt, substeps ?? 0));
    }
    get substeps(): number {
        return this.engine.exports.live_substeps(this.page);
    }
    get time(): number {
        return this.engine.exports.live_time(this.page);
    }
    setAir({ gravity, wind, drag }: Environment): void {
        this.engine.check(this.engine.exports.live_set_air(this.page, ...gravity, ...wind, drag));
    }
    setSelfCollision(on: boolean): void {
        this.engine.check(this.engine.exports.live_set_self_collision(this.page, Number(on)));
    }

    // ---- What is held

    // The number of the hold; nothing where all of the particles are held already.
    hold(particles: number[]): number | undefined {
        const bytes = new Uint8Array(Int32Array.from(particles).buffer);
        return this.engine.withBytes(bytes, (at) =>
            this.engine.exports.live_hold(this.page, at, particles.length),
        ) || undefined;
    }
    // Those that a name stands for, such as corner-nw or edge-north.
    particlesNamed(name: string): number[] {
        const { exports } = this.engine;
        const count = this.engine.withText(name, (at) => exports.live_find_named(this.page, at));
        if (count < 0) throw this.engine.error();
        return [...this.engine.integers(exports.live_named(this.page), count)];
    }
    // Where the centre of what is held will be after the next frame; `turn` is a rotation vector.
    move(hold: number, target: Vector, turn: Vector = [0, 0, 0]): void {
        this.engine.check(this.engine.exports.live_move(this.page, hold, ...target, ...turn));
    }
    release(hold: number): void {
        this.engine.check(this.engine.exports.live_release(this.page, hold));
    }
    center(hold: number): Vector {
        return this.engine.withBytes(new Uint8Array(24), (at) => {
            this.engine.check(this.engine.exports.live_center(this.page, hold, at));
            return [...new Float64Array(this.engine.exports.memory.buffer, at, 3)] as Vector;
        });
    }
    isHeld(particle: number): boolean {
        return this.engine.exports.live_is_held(this.page, particle) !== 0;
    }

    // ---- Obstacles

    // floor, sphere, table, animal, or nothing. With an obstacle the cloth begins anew above it.
    setObstacle(name: string): void {
        this.engine.withText(name, (at) =>
            this.engine.check(this.engine.exports.live_set_obstacle(this.page, at)),
        );
    }
    setObstacleMesh(obj: Uint8Array, name: string): void {
        this.engine.withBytes(obj, (at) =>
            this.engine.withText(name, (text) =>
                this.engine.check(
                    this.engine.exports.live_set_obstacle_mesh(this.page, at, obj.length, text),
                ),
            ),
        );
    }
    obstacleSurface(): Surface {
        const { exports } = this.engine;
        const points = exports.live_surface_point_count(this.page);
        const triangles = exports.live_surface_triangle_count(this.page);
        return {
            points: this.engine.floats(exports.live_surface_points(this.page), 3 * points).slice(),
            triangles: this.engine
                .integers(exports.live_surface_triangles(this.page), 3 * triangles)
                .slice(),
        };
    }

    // ---- What is shown. Views of the memory of the simulation: valid until the next call.

    positions(): Float32Array {
        return this.engine.floats(this.engine.exports.live_positions(this.page), 3 * this.particleCount);
    }
    strain(): Float32Array {
        return this.engine.floats(this.engine.exports.live_strain(this.page), this.particleCount);
    }
    speed(): Float32Array {
        return this.engine.floats(this.engine.exports.live_speed(this.page), this.particleCount);
    }
    maps(): FieldMap[] {
        return Array.from({ length: this.engine.exports.live_map_count(this.page) }, (_, map) => {
            const title = this.engine.text(this.engine.exports.live_map_title(this.page, map));
            const [name, unit] = title.split("\n");
            return { name, unit };
        });
    }
    map(index: number): Float32Array {
        return this.engine.floats(this.engine.exports.live_map(this.page, index), this.particleCount);
    }

    // ---- Paint, and the file

    // Multiplies the stiffnesses of the file by a factor per particle.
    paint(factors: Float32Array): void {
        const bytes = new Uint8Array(factors.buffer, factors.byteOffset, factors.byteLength);
        this.engine.withBytes(bytes, (at) =>
            this.engine.check(this.engine.exports.live_paint(this.page, at)),
        );
    }
    json(): string {
        const at = this.engine.exports.live_json(this.page);
        if (at === 0) throw this.engine.error();
        return this.engine.text(at);
    }

    private indices(kind: "triangle" | "edge", corners: number): Uint32Array {
        const { exports } = this.engine;
        const count = exports[`live_${kind}_count`](this.page);
        return this.engine.integers(exports[`live_${kind}s`](this.page), corners * count).slice();
    }
}
