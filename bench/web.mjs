// Cost of a step in WebAssembly against one of the program on one thread, turn by turn in one run. Prints
// JSON. scripts/bench web calls it: web.mjs BENCH_WEB FOLDER_OF_MODULES
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [program, folder] = process.argv.slice(2);
const { Engine } = await import(pathToFileURL(resolve(folder, "wasm.mjs")));
const STEP = 1e-4; // [s]
const STEPS = 32; // in a turn
const ROUNDS = 200;
const FRAME_STEPS = 16; // of a frame of the live page

async function moduleNamed(name) {
    return Engine.load(new Uint8Array(gunzipSync(readFileSync(join(folder, `live_${name}.wasm.gz`)))));
}

// A cloth in the module whose frames have so many steps.
function opened(engine, json, steps) {
    const cloth = engine.open(json, "benchmark");
    cloth.setFrame(STEP * steps, steps);
    cloth.hold(cloth.particlesNamed("corner-nw"));
    return cloth;
}

function milliseconds(work) {
    const start = performance.now();
    work();
    return performance.now() - start;
}

async function measure(name, engines) {
    const json = execFileSync(program, ["cloth", name], { maxBuffer: 1 << 28 });
    const native = spawn(program, ["run", name], { stdio: ["pipe", "pipe", "inherit"] });
    const answers = createInterface({ input: native.stdout })[Symbol.asyncIterator]();
    const cloths = Object.entries(engines).map(([module, engine]) => [`wasm/${module}`, opened(engine, json, STEPS)]);
    const framed = opened(engines.vectors, json, FRAME_STEPS);
    const best = {};
    const take = (key, value) => (best[key] = Math.min(best[key] ?? Infinity, value));
    for (let round = 0; round < ROUNDS; ++round) {
        native.stdin.write("go\n");
        const words = (await answers.next()).value.trim().split(" ");
        for (let i = 0; i < words.length; i += 2) take(words[i], 1e6 * Number(words[i + 1]));
        for (const [key, cloth] of cloths) take(key, (1000 * milliseconds(() => cloth.advance())) / STEPS);
        for (let i = 0; i < 2; ++i) take("frame", milliseconds(() => framed.advance()));
    }
    native.stdin.end();
    const { frame, ...steps } = best;
    const sets = Object.keys(steps).filter((key) => key.startsWith("cpu/"));
    const over = (key) => Number((steps["wasm/vectors"] / steps[key]).toFixed(2));
    return {
        step_us: Object.fromEntries(Object.entries(steps).map(([key, us]) => [key, Number(us.toFixed(2))])),
        wasm_over_native: Object.fromEntries(sets.map((key) => [key, over(key)])),
        frame_of_16_steps_ms: Number(frame.toFixed(3)),
    };
}

const engines = { vectors: await moduleNamed("vectors"), scalar: await moduleNamed("scalar") };
const results = {};
for (const name of ["springs32", "springs64", "mesh31"]) results[name] = await measure(name, engines);
console.log(JSON.stringify(results, null, 1));
