// Curves, drawn by uPlot in the colours of the theme.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { plainNumber, withUnit } from "../shared/colors";
import { element } from "../shared/dom";
import { cssVariable, onTheme } from "../shared/theme";

export interface Curve {
    label: string;
    color: number; // of --series-1 and so on
    values: (number | null)[];
    // Least and greatest at every place: a band around the curve.
    low?: (number | null)[];
    high?: (number | null)[];
    dashed?: boolean;
    points?: boolean; // only where there are values
}

export interface Chart {
    label: string; // for who cannot see it
    across: string;
    up: string;
    upUnit: string;
    x: number[];
    curves: Curve[];
    logarithmic?: boolean;
}

const positive = (values: (number | null)[], logarithmic: boolean) =>
    values.map((value) => (value === null || !Number.isFinite(value) || (logarithmic && value <= 0) ? null : value));

const DASHES = [8, 5];

function seriesOf(chart: Chart): { data: uPlot.AlignedData; series: uPlot.Series[]; bands: uPlot.Band[] } {
    const logarithmic = chart.logarithmic ?? false;
    const data: (number | null)[][] = [chart.x];
    const series: uPlot.Series[] = [{ label: chart.across, value: (_, v) => (v === null ? "" : plainNumber(v, 4)) }];
    const bands: uPlot.Band[] = [];
    const value: uPlot.Series.Value = (_, v) => (v === null || v === undefined ? "–" : withUnit(v, chart.upUnit));
    for (const curve of chart.curves) {
        const stroke = cssVariable(`--series-${curve.color}`);
        if (curve.low && curve.high) {
            const first = data.length;
            for (const edge of [curve.high, curve.low]) {
                data.push(positive(edge, logarithmic));
                const which = edge === curve.high ? "greatest" : "least";
                series.push({ label: `${curve.label}, ${which}`, class: "edge", stroke: "transparent", points: { show: false }, value });
            }
            bands.push({ series: [first, first + 1], fill: `color-mix(in srgb, ${stroke} 22%, transparent)` });
        }
        data.push(positive(curve.values, logarithmic));
        series.push({
            label: curve.label,
            stroke,
            width: 2,
            dash: curve.dashed ? DASHES : undefined,
            spanGaps: curve.points,
            points: { show: curve.points ?? false, size: 5, stroke, fill: stroke },
            value,
        });
    }
    return { data: data as uPlot.AlignedData, series, bands };
}

function axes(chart: Chart): uPlot.Axis[] {
    const common = {
        stroke: cssVariable("--ink-2"),
        grid: { stroke: cssVariable("--line"), width: 1 },
        ticks: { stroke: cssVariable("--line"), width: 1 },
        font: "12px system-ui, sans-serif",
        labelFont: "13px system-ui, sans-serif",
    };
    const values = (_: uPlot, splits: (number | null)[]) =>
        splits.map((v) => (v === null ? "" : chart.upUnit ? withUnit(v, chart.upUnit, 2) : plainNumber(v, 2)));
    return [
        { ...common, label: chart.across, labelSize: 22, size: 34, values: (_, s) => s.map((v) => plainNumber(v, 4)) },
        { ...common, label: chart.up, labelSize: 22, size: 64, values },
    ];
}

export function chartElement(chart: Chart, height = 300): HTMLElement {
    const holder = element("div", { class: "chart", role: "group", "aria-label": chart.label });
    let plot: uPlot | undefined;
    const build = () => {
        const width = holder.clientWidth;
        if (width === 0) return;
        plot?.destroy();
        const { data, series, bands } = seriesOf(chart);
        plot = new uPlot(
            {
                width,
                height,
                series,
                bands,
                axes: axes(chart),
                scales: { x: { time: false }, y: { distr: chart.logarithmic ? 3 : 1 } },
                legend: { live: true },
                cursor: { drag: { x: false, y: false } },
            },
            data,
            holder,
        );
    };
    new ResizeObserver(() => {
        if (plot && holder.clientWidth > 0) plot.setSize({ width: holder.clientWidth, height });
        else build();
    }).observe(holder);
    onTheme(build);
    return holder;
}
