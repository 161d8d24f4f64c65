// The modules that scripts/wasm built.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Engine } from "../../src/live/wasm";

export const MODULES = ["vectors", "scalar"] as const;

export async function builtEngine(module: (typeof MODULES)[number]): Promise<Engine> {
    const packed = readFileSync(new URL(`../../../build/wasm/live_${module}.wasm.gz`, import.meta.url));
    return Engine.load(new Uint8Array(gunzipSync(packed)));
}
