import "../shared/theme";
import "./live.css";
import { runPage } from "../shared/message";
import { pagePayload, type Payload } from "../shared/payload";
import { App } from "./app";
import { pageEngine } from "./engine";
import { Layout } from "./layout";
import type { Environment } from "./wasm";
import { World } from "./world";

interface Start {
    cloths: { name: string; array: string }[];
    environment: Environment;
    pins: string[];
}

function startOf(payload: Payload): Start {
    return payload.header as unknown as Start;
}

declare global {
    interface Window {
        springtimeLive?: App; // for tests and for the curious
    }
}

runPage("This cloth", async () => {
    const payload = pagePayload("live");
    const { cloths, environment, pins } = startOf(payload);
    const { engine, vectors } = await pageEngine();
    const world = new World(engine, environment);
    cloths.forEach(({ name, array }, place) => world.open(place, payload.u8(array), name));
    for (const name of pins.length > 0 ? pins : ["corner-nw", "corner-ne"]) world.pinNamed(name);
    window.springtimeLive = new App(world, new Layout(), vectors);
});
