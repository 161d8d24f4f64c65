// The live page in a real browser, beside the program itself.
import { readFileSync, writeFileSync } from "node:fs";
import type { BrowserContextOptions, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { App } from "../../src/live/app";
import { PHONE, seriousOf, useBrowser } from "./driver";

const browser = useBrowser();
const file = (name: string) => browser.path(name);

beforeAll(() => {
    const sheet = ["--grid", "12x12", "--length", "1", "--width", "1", "--mass", "0.2", "--stiffness", "40", "--damping", "0.05"];
    browser.run("generate", ...sheet, "--rollouts", "1", "--seconds", "0.1", "--quiet", "--out", "m.h5");
    browser.run("view", "m.cloth.json", "--out", "live.html");
});

async function open(address: string, options: BrowserContextOptions = {}) {
    const { page, complaints } = await browser.open(address, { viewport: { width: 1000, height: 640 }, ...options });
    return { page, complaints, close: () => page.context().close() };
}

// Runs in the page once it has begun. Time stands still there, so that nothing depends on the clock.
async function begun(page: Page): Promise<void> {
    await page.waitForFunction(() => window.springtimeLive !== undefined);
    await page.evaluate(() => window.springtimeLive!.setRunning(false));
}

const app = <Result>(page: Page, use: (app: App) => Result) =>
    page.evaluate(`(${use.toString()})(window.springtimeLive)`) as Promise<Result>;

// Where a particle is on the screen.
async function onScreen(page: Page, particle: number): Promise<{ x: number; y: number }> {
    return page.evaluate((p) => {
        const { scene, world } = window.springtimeLive!;
        scene.stage.camera.updateMatrixWorld();
        const at = scene.toPicture(0, world.tracks[0].position(p)).project(scene.stage.camera);
        const box = scene.stage.renderer.domElement.getBoundingClientRect();
        return { x: box.left + ((at.x + 1) / 2) * box.width, y: box.top + ((1 - at.y) / 2) * box.height };
    }, particle);
}

const position = (page: Page, particle: number) =>
    page.evaluate((p) => window.springtimeLive!.world.tracks[0].position(p), particle);

test("it opens without a word of complaint and shows its scale with a unit", async () => {
    const { page, complaints, close } = await open("live.html");
    await begun(page);
    expect(await page.title()).toContain("m");
    expect(await page.textContent(".legend figcaption")).toBe("strain [%]");
    await page.getByLabel("Colours", { exact: true }).selectOption("stretch");
    expect(await page.textContent(".legend figcaption")).toBe("stiffness against stretch [N/m]");
    expect(seriousOf(complaints)).toEqual([]);
    await close();
});

test("after one second the cloth is where the native simulation has it", async () => {
    const { page, close } = await open("live.html");
    await begun(page);
    await page.getByRole("button", { name: "Begin anew" }).click();
    await page.getByLabel("Sub-steps").selectOption("16");
    const live = await app(page, ({ world }) => {
        for (let frame = 0; frame < 60; ++frame) world.advance();
        return [...world.tracks[0].cloth.positions()];
    });
    browser.run(
        "simulate", "m.cloth.json", "--pin", "corner-nw", "--pin", "corner-ne", "--seconds", "1", "--dt",
        String(1 / 60), "--substeps", "16", "--stride", "1", "--quiet", "--out", "native.h5",
    );
    browser.run("export", "native.h5", "--to", "csv", "--out", "native.csv", "--quiet");
    const last = readFileSync(file("native.csv"), "utf8").trim().split("\n").at(-1)!;
    const native = last.split(",").slice(2).map(Number); // after frame and time
    expect(native.length).toBe(3 * 144);
    // Both compute in float, and round 960 steps differently: seen 3e-6 m.
    const furthest = Math.max(...native.map((value, i) => Math.abs(value - live[i])));
    expect(Math.max(...native.map(Math.abs))).toBeGreaterThan(0.5);
    expect(furthest).toBeLessThan(1e-4);
    await close();
});

test("dragging moves the particle under the pointer, and letting go frees it", async () => {
    const { page, close } = await open("live.html");
    await begun(page);
    const particle = 12 * 11 + 6; // in the middle of the lower edge
    const before = await position(page, particle);
    const at = await onScreen(page, particle);
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    expect(await app(page, ({ world }) => world.tracks[0].hand !== undefined)).toBe(true);
    await page.mouse.move(at.x + 60, at.y - 120, { steps: 6 });
    await app(page, ({ world }) => { for (let i = 0; i < 30; ++i) world.advance(); });
    const during = await position(page, particle);
    const seen = await onScreen(page, particle);
    expect(during[1] - before[1]).toBeGreaterThan(0.05);
    expect(Math.hypot(seen.x - at.x - 60, seen.y - at.y + 120)).toBeLessThan(20);
    await page.mouse.up();
    expect(await app(page, ({ world }) => world.tracks[0].hand === undefined)).toBe(true);
    await app(page, ({ world }) => { for (let i = 0; i < 30; ++i) world.advance(); });
    expect((await position(page, particle))[1]).toBeLessThan(during[1] - 0.05);
    await close();
});

test("a click pins a point in place, and another frees it", async () => {
    const { page, close } = await open("live.html");
    await begun(page);
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    const particle = 12 * 11 + 4;
    const before = await position(page, particle);
    const { x, y } = await onScreen(page, particle);
    const advance = () => app(page, ({ world }) => { for (let i = 0; i < 20; ++i) world.advance(); });
    await page.mouse.click(x, y);
    expect(await page.textContent(".said")).toBe("pinned");
    await advance();
    expect(await position(page, particle)).toEqual(before);
    await page.mouse.click(x, y);
    expect(await page.textContent(".said")).toBe("free");
    await advance();
    expect((await position(page, particle))[1]).toBeLessThan(before[1] - 0.01);
    await close();
});

test("painting changes stiffness where the brush was and nowhere else; the download has it", async () => {
    const { page, close } = await open("live.html");
    await begun(page);
    await page.getByRole("button", { name: "Paint", exact: true }).click();
    const particle = 12 * 6 + 6;
    const at = await onScreen(page, particle);
    await page.mouse.click(at.x, at.y);
    const [saved] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Download cloth.json" }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe("m-edited.json");
    await saved.saveAs(file("edited.json"));
    const edited = JSON.parse(readFileSync(file("edited.json"), "utf8"));
    const original = JSON.parse(readFileSync(file("m.cloth.json"), "utf8"));
    const { rest } = original.particles;
    const radius = await app(page, ({ brush }) => brush.radius);
    const away = (p: number) => Math.hypot(rest[p][0] - rest[particle][0], rest[p][1] - rest[particle][1]);
    let changed = 0;
    original.springs.ends.forEach(([a, b]: [number, number], s: number) => {
        const painted = Math.min(away(a), away(b)) < radius;
        const ratio = edited.springs.stiffness[s] / original.springs.stiffness[s];
        if (painted) expect(ratio).toBeGreaterThan(1);
        else expect(ratio).toBe(1);
        changed += Number(painted);
    });
    expect(changed).toBeGreaterThan(4);
    // The program reads what the page wrote.
    expect(browser.run("inspect", "edited.json")).toContain("springs");
    await page.keyboard.press("Control+z");
    expect(await app(page, ({ world }) => Math.max(...world.tracks[0].paint))).toBe(0);
    await close();
});

test("the keyboard alone pulls, pins and paints", async () => {
    const { page, close } = await open("live.html");
    await begun(page);
    await page.locator("canvas").focus();
    await page.keyboard.press("Shift+ArrowDown");
    const cursor = await app(page, ({ tools }) => tools.cursor!.particle);
    await page.keyboard.press("2");
    await page.keyboard.press("Enter");
    expect(await page.evaluate((p) => window.springtimeLive!.world.tracks[0].cloth.isHeld(p), cursor)).toBe(true);
    await page.keyboard.press("Enter");
    await page.keyboard.press("1");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Enter");
    const goal = () => app(page, ({ world }) => world.tracks[0].hand!.goal[1]);
    const before = await goal();
    await page.keyboard.press("ArrowUp");
    expect(await goal()).toBeGreaterThan(before);
    await page.keyboard.press("Enter");
    expect(await app(page, ({ world }) => world.tracks[0].hand === undefined)).toBe(true);
    await page.keyboard.press("3");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Enter");
    expect(await app(page, ({ world }) => Math.max(...world.tracks[0].paint))).toBeGreaterThan(0);
    await close();
});

test("two cloths run in lockstep, and one paints the first alone", async () => {
    browser.run("view", "m.cloth.json", "--compare", "m.cloth.json", "--pin", "edge-north", "--out", "two.html");
    const { page, complaints, close } = await open("two.html");
    await begun(page);
    const apart = () =>
        app(page, ({ world }) => {
            for (let i = 0; i < 20; ++i) world.advance();
            const [a, b] = world.tracks.map(({ cloth }) => [...cloth.positions()]);
            return Math.max(...a.map((value, i) => Math.abs(value - b[i])));
        });
    expect(await app(page, ({ world }) => world.tracks.map(({ pins }) => pins.size))).toEqual([12, 12]);
    expect(await apart()).toBe(0);
    await page.getByRole("button", { name: "Dab the whole cloth" }).click();
    expect(await apart()).toBeGreaterThan(1e-3);
    expect(seriousOf(complaints)).toEqual([]);
    await close();
});

test("a blow-up is reported with a way out", async () => {
    const { page, close } = await open("live.html");
    await begun(page);
    await page.evaluate(() => {
        const { world } = window.springtimeLive!;
        world.tracks[0].paint.fill(Math.log(50));
        world.applyPaint(world.tracks[0]);
    });
    await page.getByLabel("Sub-steps").selectOption("1");
    const alert = page.getByRole("alert").filter({ hasText: "blew up" });
    for (let i = 0; i < 300 && !(await alert.isVisible()); ++i) await page.keyboard.press(".");
    expect(await alert.textContent()).toContain("largest stable step");
    await page.getByRole("button", { name: "safe sub-steps" }).click();
    expect(await alert.isVisible()).toBe(false);
    for (let i = 0; i < 5; ++i) await page.keyboard.press(".");
    expect(await alert.isVisible()).toBe(false);
    await close();
});

test("files that are damaged give a message, not a blank page", async () => {
    const whole = readFileSync(file("live.html"), "utf8");
    const start = whole.indexOf('id="springtime-data">') + 'id="springtime-data">'.length;
    const end = whole.indexOf("</script>", start);
    const data = whole.slice(start, end);
    const bytes = Buffer.from(data, "base64");
    const spoilt = Buffer.from(bytes);
    spoilt.write("@@@@", bytes.length - 2000); // inside the cloth
    for (const [name, text] of [
        ["half", data.slice(0, data.length / 2)],
        ["none", ""],
        ["spoilt", spoilt.toString("base64")],
    ]) {
        writeFileSync(file("damaged.html"), whole.slice(0, start) + text + whole.slice(end));
        const { page, close } = await open("damaged.html");
        await page.waitForSelector(".message");
        expect(await page.textContent(".message h1"), name).toBe("This cloth cannot be shown");
        expect((await page.textContent(".message p"))!.length, name).toBeGreaterThan(20);
        await close();
    }
});

test("files that are chosen in the page are refused with a message, and the cloth goes on", async () => {
    const { page, close } = await open("live.html");
    await begun(page);
    for (const [label, name, words] of [
        ["Open another …", "bad.json", "is not JSON"],
        ["Own mesh (OBJ) …", "<img src=x onerror=alert(1)>.obj", "no faces"],
    ]) {
        await page.locator(`input[aria-label="${label}"]`).setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from("v 0 0 0") });
        await page.waitForFunction((part) => document.querySelector(".warning")?.textContent?.includes(part), words);
        expect(await page.locator(".warning img").count()).toBe(0);
    }
    await page.keyboard.press(".");
    expect(await app(page, ({ world }) => world.tracks.length)).toBe(1);
    await close();
});

test("hostile names of files are shown as text", async () => {
    const name = `</script><script>alert(1)</script>"'\u202e.cloth`;
    const safe = name.replaceAll("/", "\u2215"); // what a file can be called
    writeFileSync(file(`${safe}.json`), readFileSync(file("m.cloth.json")));
    browser.run("view", `${safe}.json`, "--out", "hostile.html");
    const { page, complaints, close } = await open("hostile.html");
    await begun(page);
    expect(await page.textContent(".names")).toBe(safe.replace(/\.cloth$/, ""));
    expect(await page.locator(".names script").count()).toBe(0);
    expect(seriousOf(complaints)).toEqual([]);
    await close();
});

test("on a phone all controls can be reached, with fingers", async () => {
    const phone = { viewport: PHONE, hasTouch: true, isMobile: true };
    const { page, close } = await open("live.html", phone);
    await begun(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.getByText("Drop it on something").tap();
    await page.getByLabel("Drop it on", { exact: true }).selectOption("sphere");
    expect(await app(page, ({ world }) => world.tracks[0].cloth.obstacleSurface().triangles.length)).toBeGreaterThan(1000);
    await page.getByRole("button", { name: "Pin", exact: true }).tap();
    const { x, y } = await onScreen(page, 5 * 12 + 5);
    await page.touchscreen.tap(x, y);
    expect(await app(page, ({ world }) => world.tracks[0].pins.size)).toBe(1);
    await close();
});

test("the page that the server gives is the same, and asks nobody for anything", async () => {
    const { address, process } = await browser.serve("view", "m.cloth.json");
    try {
        const { page, complaints, close } = await open(address);
        await begun(page);
        expect(await app(page, ({ world }) => world.tracks[0].cloth.particleCount)).toBe(144);
        expect(seriousOf(complaints)).toEqual([]);
        await close();
    } finally {
        process.kill("SIGTERM");
    }
    expect(await new Promise((resolve) => process.on("exit", resolve))).toBe(0);
});
