import { expect, test } from "vitest";
import { Average, Pace } from "../src/live/pace";

const total = (pace: Pace, seconds: number, times: number) =>
    Array.from({ length: times }, () => pace.due(seconds)).reduce((sum, frames) => sum + frames, 0);

test("a screen about as fast as the simulation gets one frame each", () => {
    const pace = new Pace(1 / 60);
    for (const seconds of [0.0166, 0.0171, 0.0155]) expect(pace.due(seconds)).toBe(1);
});

test("on a faster or slower screen time passes alike", () => {
    expect(total(new Pace(1 / 60), 1 / 144, 144)).toBe(60);
    expect(total(new Pace(1 / 60), 1 / 30, 30)).toBe(60);
});

test("slow motion shows fewer frames", () => {
    const pace = new Pace(1 / 60);
    pace.speed = 0.25;
    expect(total(pace, 1 / 60, 60)).toBe(15);
});

test("what was missed in a pause is not made up for", () => {
    const pace = new Pace(1 / 60);
    expect(pace.due(10)).toBe(4);
    expect(pace.due(1 / 60)).toBe(1);
});

test("an average begins with its first value", () => {
    const average = new Average();
    expect(average.get()).toBeNaN();
    average.add(4);
    expect(average.get()).toBe(4);
    average.add(14);
    expect(average.get()).toBe(5);
});
