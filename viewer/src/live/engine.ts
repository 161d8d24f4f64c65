// The simulation that is in the page: with vector instructions where the browser has them.

import { gunzipSync } from "three/addons/libs/fflate.module.js";
import scalar from "../../../build/wasm/live_scalar.wasm.gz?inline";
import vectors from "../../../build/wasm/live_vectors.wasm.gz?inline";
import { decodeBase64 } from "../shared/payload";
import { Engine, hasVectors } from "./wasm";

export async function pageEngine(): Promise<{ engine: Engine; vectors: boolean }> {
    const withVectors = hasVectors();
    const address = withVectors ? vectors : scalar;
    const packed = decodeBase64(address.slice(address.indexOf(",") + 1));
    return { engine: await Engine.load(gunzipSync(packed)), vectors: withVectors };
}
