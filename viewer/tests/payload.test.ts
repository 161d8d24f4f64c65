import { describe, expect, it } from "vitest";
import { decodeBase64, Payload, PayloadError } from "../src/shared/payload";

// The container of src/web/payload.h, written by hand.
function container(header: unknown, arrays: Uint8Array, magic = "SPRTWEB1"): Uint8Array {
    let json = new TextEncoder().encode(JSON.stringify(header));
    const padded = new Uint8Array(Math.ceil(json.length / 4) * 4).fill(0x20);
    padded.set(json);
    const bytes = new Uint8Array(12 + padded.length + arrays.length);
    bytes.set(new TextEncoder().encode(magic));
    new DataView(bytes.buffer).setUint32(8, padded.length, true);
    bytes.set(padded, 12);
    bytes.set(arrays, 12 + padded.length);
    return bytes;
}

const floats = new Uint8Array(new Float32Array([1.5, -2, 1e-3, 4, 5, 6]).buffer);
const good = {
    kind: "report",
    name: "a</script> \u202e b",
    arrays: { x: { type: "f32", shape: [2, 3], offset: 0 } },
};

describe("Payload", () => {
    it("reads header and arrays", () => {
        const payload = Payload.parse(container(good, floats));
        expect(payload.header.name).toBe(good.name);
        expect(payload.shape("x")).toEqual([2, 3]);
        expect(Array.from(payload.f32("x"))).toEqual([1.5, -2, Math.fround(1e-3), 4, 5, 6]);
    });

    it("reads arrays from bytes at an odd address", () => {
        const bytes = container(good, floats);
        const shifted = new Uint8Array(bytes.length + 1);
        shifted.set(bytes, 1);
        expect(Payload.parse(shifted.subarray(1)).f32("x")[3]).toBe(4);
    });

    it("refuses an array of another type or name", () => {
        const payload = Payload.parse(container(good, floats));
        expect(() => payload.u16("x")).toThrow(PayloadError);
        expect(() => payload.f32("y")).toThrow(/"y" is missing/);
        expect(() => payload.f32("toString")).toThrow(PayloadError);
    });

    it.each([
        ["another magic", container(good, floats, "SPRTWEB2")],
        ["a cut file", container(good, floats).subarray(0, 60)],
        ["cut arrays", container(good, floats.subarray(0, 20))],
        ["nothing", new Uint8Array()],
        ["no JSON", container(good, floats).fill(0x7b, 12, 40)],
        ["a huge shape", container({ ...good, arrays: { x: { type: "f32", shape: [2 ** 40], offset: 0 } } }, floats)],
        ["a negative offset", container({ ...good, arrays: { x: { type: "f32", shape: [1], offset: -4 } } }, floats)],
        ["a crooked offset", container({ ...good, arrays: { x: { type: "f32", shape: [1], offset: 2 } } }, floats)],
        ["an unknown type", container({ ...good, arrays: { x: { type: "f64", shape: [1], offset: 0 } } }, floats)],
        ["no arrays", container({ kind: "report" }, floats)],
    ])("refuses %s", (_name, bytes) => {
        expect(() => Payload.parse(bytes)).toThrow(PayloadError);
    });
});

describe("decodeBase64", () => {
    it("decodes", () => {
        expect(Array.from(decodeBase64(" AP8Q\n"))).toEqual([0, 255, 16]);
    });
    it("refuses what is not base64", () => {
        expect(() => decodeBase64("a<b")).toThrow(PayloadError);
    });
});
