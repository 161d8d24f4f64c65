// The one reader of what the program puts into a page (src/web/payload.h): base64 of the magic
// "SPRTWEB1", the length of the header as uint32, the header as JSON padded to a multiple of 4, and
// the arrays. Everything is little-endian.

export type TypedArray = Float32Array | Uint32Array | Uint16Array | Uint8Array;

export interface ArrayEntry {
    type: "f32" | "u32" | "u16" | "u8";
    shape: number[];
    offset: number; // in bytes, from the start of the arrays
}

export interface Header {
    kind: string;
    arrays: Record<string, ArrayEntry>;
    [key: string]: unknown;
}

// A payload that cannot be read. The message is for people.
export class PayloadError extends Error {
    override name = "PayloadError";
}

const MAGIC = "SPRTWEB1";
const PREFIX_BYTES = 12;
const REMEDY = "Write the page again, or get an undamaged copy of it.";

const TYPES = {
    f32: Float32Array,
    u32: Uint32Array,
    u16: Uint16Array,
    u8: Uint8Array,
} as const;

function damaged(what: string): PayloadError {
    return new PayloadError(`The data in this page are damaged: ${what}. ${REMEDY}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

export class Payload {
    private constructor(
        readonly header: Header,
        private readonly arrays: ArrayBuffer,
    ) {}

    // Checks everything before anything is used: magic, lengths, and the place of every array.
    static parse(bytes: Uint8Array): Payload {
        if (bytes.length < PREFIX_BYTES) throw damaged(`only ${bytes.length} bytes are there`);
        const magic = String.fromCharCode(...bytes.subarray(0, MAGIC.length));
        if (magic !== MAGIC) throw damaged("they do not begin as data of SpringTime do");
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const headerLength = view.getUint32(MAGIC.length, true);
        const start = PREFIX_BYTES + headerLength;
        if (headerLength % 4 !== 0 || start > bytes.length) {
            throw damaged(`a header of ${headerLength} bytes does not fit into ${bytes.length} bytes`);
        }
        const header = parseHeader(bytes.subarray(PREFIX_BYTES, start));
        // A copy begins at address zero, so that arrays of wide numbers are aligned.
        const payload = new Payload(header, bytes.slice(start).buffer);
        for (const name of Object.keys(header.arrays)) payload.check(name);
        return payload;
    }

    has(name: string): boolean {
        return Object.hasOwn(this.header.arrays, name);
    }

    shape(name: string): number[] {
        return this.entry(name).shape;
    }

    f32(name: string): Float32Array {
        return this.array(name, "f32") as Float32Array;
    }

    u32(name: string): Uint32Array {
        return this.array(name, "u32") as Uint32Array;
    }

    u16(name: string): Uint16Array {
        return this.array(name, "u16") as Uint16Array;
    }

    u8(name: string): Uint8Array {
        return this.array(name, "u8") as Uint8Array;
    }

    private entry(name: string): ArrayEntry {
        if (!this.has(name)) throw damaged(`the array "${name}" is missing`);
        return this.header.arrays[name];
    }

    private array(name: string, type: ArrayEntry["type"]): TypedArray {
        const entry = this.entry(name);
        if (entry.type !== type) throw damaged(`the array "${name}" is ${entry.type}, not ${type}`);
        return new TYPES[type](this.arrays, entry.offset, count(entry.shape));
    }

    private check(name: string): void {
        const entry: unknown = this.header.arrays[name];
        if (!isRecord(entry) || !Object.hasOwn(TYPES, String(entry.type))) {
            throw damaged(`the array "${name}" has no known type`);
        }
        const { type, shape, offset } = entry as unknown as ArrayEntry;
        const natural = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
        if (!Array.isArray(shape) || !shape.every(natural) || !natural(offset)) {
            throw damaged(`the array "${name}" has no valid shape`);
        }
        const width = TYPES[type].BYTES_PER_ELEMENT;
        if (offset % width !== 0 || offset + count(shape) * width > this.arrays.byteLength) {
            throw damaged(`the array "${name}" does not fit into the data`);
        }
    }
}

function count(shape: number[]): number {
    return shape.reduce((product, size) => product * size, 1);
}

function parseHeader(bytes: Uint8Array): Header {
    let header: unknown;
    try {
        header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    } catch {
        throw damaged("the header is not JSON");
    }
    if (!isRecord(header) || typeof header.kind !== "string" || !isRecord(header.arrays)) {
        throw damaged("the header does not say what it holds");
    }
    return header as Header;
}

export function decodeBase64(text: string): Uint8Array {
    let binary: string;
    try {
        binary = atob(text.trim());
    } catch {
        throw damaged("they are not base64");
    }
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

export const DATA_ELEMENT = "springtime-data";

// What the program put into this page. `kind` is what the page can show.
export function pagePayload(kind: string): Payload {
    const text = document.getElementById(DATA_ELEMENT)?.textContent?.trim() ?? "";
    if (text === "") {
        throw new PayloadError(
            "This page holds no data: it is the empty page that SpringTime fills. " +
                "Use 'springtime report' or 'springtime view' to write one with data.",
        );
    }
    const payload = Payload.parse(decodeBase64(text));
    if (payload.header.kind !== kind) {
        throw damaged(`they are of a page of kind "${payload.header.kind}", not "${kind}"`);
    }
    return payload;
}
