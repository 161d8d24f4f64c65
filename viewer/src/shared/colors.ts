// Colour maps. Lightness rises (or falls) all the way along each, so that the order survives
// grey-scale print and all kinds of colour blindness.

export type Rgb = [number, number, number]; // sRGB, 0 to 1
export type ColorMap = (share: number) => Rgb;

// The colours of the pictures that the program draws (src/draw/color_scale.cpp).
const SEQUENTIAL: Rgb[] = [
    [0.192, 0.235, 0.545],
    [0.42, 0.259, 0.62],
    [0.714, 0.29, 0.553],
    [0.906, 0.42, 0.4],
    [0.961, 0.631, 0.318],
    [0.98, 0.863, 0.471],
];

// Blue, light grey, orange: the two sides differ in hue for all kinds of colour blindness.
const DIVERGING: Rgb[] = [
    [0.086, 0.286, 0.569],
    [0.361, 0.584, 0.8],
    [0.902, 0.906, 0.91],
    [0.898, 0.592, 0.29],
    [0.596, 0.29, 0.035],
];

// For errors and uncertainty: the darker, the worse.
const WORSENING: Rgb[] = [
    [0.91, 0.945, 0.918],
    [0.635, 0.827, 0.788],
    [0.31, 0.643, 0.682],
    [0.153, 0.42, 0.561],
    [0.133, 0.2, 0.388],
];

export const UNKNOWN_COLOR: Rgb = [0.55, 0.55, 0.57];

function through(stops: Rgb[]): ColorMap {
    return (share) => {
        const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
        const stop = Math.min(Math.floor(at), stops.length - 2);
        const part = at - stop;
        const [from, to] = [stops[stop], stops[stop + 1]];
        return [0, 1, 2].map((i) => from[i] + (to[i] - from[i]) * part) as Rgb;
    };
}

export const sequential = through(SEQUENTIAL);
export const diverging = through(DIVERGING);
export const worsening = through(WORSENING);

export function cssColor([r, g, b]: Rgb): string {
    const byte = (value: number) => Math.round(255 * value);
    return `rgb(${byte(r)} ${byte(g)} ${byte(b)})`;
}

// WCAG: relative luminance of an sRGB colour.
export function luminance([r, g, b]: Rgb): number {
    const linear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

// Which values the colours stand for.
export interface Scale {
    caption: string; // with what is shown, without its unit
    unit: string;
    low: number;
    high: number;
    logarithmic?: boolean;
    map: ColorMap;
}

export function shareOf(scale: Scale, value: number): number {
    if (scale.logarithmic) return Math.log(value / scale.low) / Math.log(scale.high / scale.low);
    return (value - scale.low) / (scale.high - scale.low);
}

export function valueAt(scale: Scale, share: number): number {
    if (scale.logarithmic) return scale.low * (scale.high / scale.low) ** share;
    return scale.low + (scale.high - scale.low) * share;
}

// Grey for what is not known.
export function colorOf(scale: Scale, value: number): Rgb {
    if (!Number.isFinite(value)) return UNKNOWN_COLOR;
    return scale.map(shareOf(scale, value));
}

// Spans the finite values. A single value gets a range from zero, so that rounding is not drawn as
// a difference. `clip` leaves out that share of the values at the upper end.
export function scaleOver(
    values: Iterable<number>,
    words: { caption: string; unit: string },
    map: ColorMap = sequential,
    clip = 0,
): Scale {
    const finite = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
    if (finite.length === 0) return { ...words, low: 0, high: 1, map };
    let low = finite[0];
    let high = finite[Math.floor((finite.length - 1) * (1 - clip))];
    if (high - low <= 1e-9 * Math.abs(high)) {
        low = Math.min(0, low);
        high = high > 0 ? 2 * high : 1;
    }
    return { ...words, low, high, map };
}

// About `count` round numbers within a range.
export function roundNumbers(low: number, high: number, count: number): number[] {
    const rough = (high - low) / count;
    if (!(rough > 0)) return [low];
    const power = 10 ** Math.floor(Math.log10(rough));
    const digit = rough / power;
    const step = power * (digit <= 1.01 ? 1 : digit <= 2.01 ? 2 : digit <= 5.01 ? 5 : 10);
    const found: number[] = [];
    for (let k = Math.ceil(low / step - 1e-9) + 0; k * step <= high + 1e-9 * step; ++k) found.push(k * step);
    return found;
}

// Powers of ten within a range, for logarithmic scales.
export function decades(low: number, high: number): number[] {
    const found: number[] = [];
    for (let k = Math.ceil(Math.log10(low) - 1e-9); 10 ** k <= high * (1 + 1e-9); ++k) found.push(10 ** k);
    return found;
}

const TICK_ROOM = 0.1; // of the scale: a round number nearer to an end would run into its number

// Both ends, and round numbers between them.
export function scaleTicks(scale: Scale, count = 4): number[] {
    const round = scale.logarithmic ? decades(scale.low, scale.high) : roundNumbers(scale.low, scale.high, count);
    const inner = round.filter((tick) => {
        const share = shareOf(scale, tick);
        return share > TICK_ROOM && share < 1 - TICK_ROOM;
    });
    return [scale.low, ...inner, scale.high];
}

const PREFIXES: [number, string][] = [
    [1, ""],
    [1e-3, "m"],
    [1e-6, "µ"],
    [1e-9, "n"],
];
const PREFIXED_UNITS = new Set(["m", "s"]);

// A number of three digits with its unit: 0.0021 m is 2.1 mm.
export function withUnit(value: number, unit = "", digits = 3): string {
    if (!Number.isFinite(value)) return "unknown";
    if (value === 0) return unit ? `0 ${unit}` : "0";
    let [factor, prefix] = PREFIXES[0];
    if (PREFIXED_UNITS.has(unit)) {
        [factor, prefix] = PREFIXES.find(([size]) => Math.abs(value) >= size) ?? PREFIXES[3];
    }
    return `${plainNumber(value / factor, digits)}${unit ? ` ${prefix}${unit}` : ""}`;
}

export function plainNumber(value: number, digits = 3): string {
    if (!Number.isFinite(value)) return "unknown";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e5 || size < 1e-3)) {
        const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
        return `${Number(mantissa)}\u00d710${superscript(Number(exponent))}`;
    }
    return String(Number(value.toPrecision(digits)));
}

function superscript(exponent: number): string {
    const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
    return [...String(exponent)].map((c) => (c === "-" ? "⁻" : digits[Number(c)])).join("");
}
