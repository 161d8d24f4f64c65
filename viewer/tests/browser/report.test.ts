// The report in a real browser.

import { copyFileSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { withUnit } from "../../src/shared/colors";
import type { Player } from "../../src/report/player";
import { PHONE, seriousOf, useBrowser } from "./driver";

const HOSTILE = `<img src=x onerror=alert(1)>"'&\u202elive`;
const browser = useBrowser();
type Shown = { springtime: { player: Player } };

async function ready(page: Page): Promise<void> {
    await page.waitForFunction(() => (window as unknown as Shown).springtime?.player !== undefined);
}

beforeAll(() => {
    const small = ["--grid", "8x8", "--length", "1", "--width", "1", "--mass", "0.3", "--stiffness", "20", "--damping", "0.01", "--anchor-radius", "0.2"];
    browser.run("generate", ...small, "--seconds", "2", "--fps", "60", "--noise", "0.0005", "--rollouts", "4", "--out", "m.h5", "--quiet");
    browser.run("generate", ...small, "--seconds", "0.5", "--rollouts", "2", "--seed", "9", "--out", "test.h5", "--quiet");
    browser.run("train", "m.h5", "--grid", "8x8", "--method", "linear", "--out", "run", "--quiet", "--no-report");
    browser.run("report", "run", "--motion", "test.h5", "--out", "r.html", "--quiet");
});

describe("the report", () => {
    it("opens without complaints and shows the numbers of its run", async () => {
        const { page, complaints } = await browser.open("r.html");
        await ready(page);
        const text = await page.innerText("body");
        expect(text).toContain("test.h5");
        const learned = JSON.parse(browser.run("evaluate", "run/cloth.json", "test.h5", "--truth", "test.cloth.json", "--json", "--quiet"));
        expect(await page.innerText("h1")).toContain(withUnit(learned.motion_rmse.mean, "m"));
        expect(text).toContain(withUnit(learned.baselines.static.mean, "m"));
        expect(text).toContain(withUnit(learned.stiffness_rmse, "N/m"));
        for (const part of ["player", "errors", "comparison", "maps", "scatter", "learning"]) {
            expect(await page.locator(`#${part}`).count(), part).toBe(1);
        }
        expect(seriousOf(complaints)).toEqual([]);
    });

    it("plays the positions that are stored", async () => {
        browser.run("export", "test.h5", "--rollout", "0", "--to", "csv", "--out", "stored.csv", "--quiet");
        const lines = readFileSync(browser.path("stored.csv"), "utf8").trim().split("\n");
        const columns = lines[0].split(",");
        const { page } = await browser.open("r.html");
        await ready(page);
        for (const index of [0, 5, 12]) {
            const shown = await page.evaluate((i) => {
                const { player } = (window as unknown as Shown).springtime;
                player.showFrame(i);
                return { moment: player.moment, positions: Array.from(player.positions(0)) };
            }, index);
            const row = lines[1 + shown.moment.frame].split(",").map(Number);
            const stored = row.filter((_, i) => /^[xyz]\d+$/.test(columns[i]));
            expect(row[columns.indexOf("time")]).toBeCloseTo(shown.moment.time, 6);
            expect(stored.length).toBe(shown.positions.length);
            // Rounded to 16 bits of a box of at most a few metres: half a step is below 50 µm.
            stored.forEach((value, i) => expect(Math.abs(value - shown.positions[i])).toBeLessThan(5e-5));
        }
    });

    it("can be used by keyboard alone", async () => {
        const { page, complaints } = await browser.open("r.html");
        await ready(page);
        const moment = () => page.evaluate(() => (window as unknown as Shown).springtime.player.moment.index);
        await page.evaluate(() => (window as unknown as Shown).springtime.player.showFrame(3));
        await page.locator("#player canvas").focus();
        await page.keyboard.press(".");
        expect(await moment()).toBe(4);
        await page.keyboard.press(",");
        await page.keyboard.press(",");
        expect(await moment()).toBe(2);
        const before = await page.locator("#player canvas").screenshot();
        for (let i = 0; i < 6; ++i) await page.keyboard.press("ArrowLeft");
        await page.waitForTimeout(100);
        expect(Buffer.compare(before, await page.locator("#player canvas").screenshot())).not.toBe(0);
        // Every control can be reached, and has a name.
        const nameless = await page.evaluate(() =>
            [...document.querySelectorAll<HTMLElement>("button, select, input")]
                .filter((each) => each.tabIndex < 0 || !(each.textContent || each.getAttribute("aria-label") || each.closest("label")))
                .map((each) => each.outerHTML),
        );
        expect(nameless).toEqual([]);
        await page.keyboard.press(" ");
        await page.waitForFunction(() => (window as unknown as Shown).springtime.player.moment.index > 3);
        expect(seriousOf(complaints)).toEqual([]);
    });

    it("plays motion with gaps", async () => {
        browser.run("generate", "--grid", "8x8", "--length", "1", "--width", "1", "--mass", "0.3", "--stiffness", "20", "--damping", "0.01", "--anchor-radius", "0.2", "--seconds", "0.5", "--rollouts", "1", "--gaps", "0.1", "--fps", "60", "--out", "gaps.h5", "--quiet");
        browser.run("report", "run", "--motion", "gaps.h5", "--out", "gaps.html", "--quiet");
        const { page, complaints } = await browser.open("gaps.html");
        await ready(page);
        const unknown = await page.evaluate(() => {
            const { player } = (window as unknown as Shown).springtime;
            let count = 0;
            for (let i = 0; i < 10; ++i) {
                player.showFrame(i);
                count += player.positions(0).filter(Number.isNaN).length;
            }
            return count;
        });
        expect(unknown).toBeGreaterThan(0);
        await page.waitForTimeout(200);
        expect(seriousOf(complaints)).toEqual([]);
    });

    it("fits a phone, light and dark", async () => {
        for (const colorScheme of ["light", "dark"] as const) {
            const { page, complaints } = await browser.open("r.html", { viewport: PHONE, colorScheme });
            await ready(page);
            expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
            const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
            const [red] = ground.match(/\d+/g)!.map(Number);
            expect(red > 128).toBe(colorScheme === "light");
            expect(seriousOf(complaints)).toEqual([]);
        }
    });

    it("shows hostile names as text", async () => {
        cpSync(browser.path("run"), browser.path(HOSTILE), { recursive: true });
        copyFileSync(browser.path("test.h5"), browser.path(`${HOSTILE}.h5`));
        browser.run("report", HOSTILE, "run", "--motion", `${HOSTILE}.h5`, "--out", "hostile.html", "--quiet");
        const { page, complaints } = await browser.open("hostile.html");
        await ready(page);
        expect(await page.locator("img").count()).toBe(0);
        expect(await page.textContent("#comparison")).toContain(HOSTILE);
        expect(await page.textContent(".intro")).toContain(`${HOSTILE}.h5`);
        const bare = await page.evaluate((name) => {
            const walker = document.createTreeWalker(document.querySelector("main")!, NodeFilter.SHOW_TEXT);
            const found: string[] = [];
            while (walker.nextNode()) {
                const { parentElement, textContent } = walker.currentNode;
                if (textContent!.includes(name) && !parentElement!.closest("bdi, option, pre, .u-legend")) found.push(parentElement!.outerHTML);
            }
            return found;
        }, "\u202e");
        expect(bare).toEqual([]);
        expect(seriousOf(complaints)).toEqual([]);
    });

    it.each([
        ["cut in the middle", (data: string) => data.slice(0, data.length / 2)],
        ["of other bytes", (data: string) => data.slice(0, 400) + "AAAA".repeat(20) + data.slice(480)],
        ["no base64", () => "<<<"],
        ["empty", () => ""],
    ])("shows a message where its data are %s", async (_what, damage) => {
        const page = readFileSync(browser.path("r.html"), "utf8");
        const marker = 'id="springtime-data">';
        const begin = page.indexOf(marker) + marker.length;
        const end = page.indexOf("</script>", begin);
        writeFileSync(browser.path("damaged.html"), page.slice(0, begin) + damage(page.slice(begin, end)) + page.slice(end));
        const { page: opened } = await browser.open("damaged.html");
        const alert = opened.getByRole("alert");
        await alert.waitFor();
        expect(await alert.innerText()).toMatch(/cannot be shown[\s\S]*(damaged|holds no data)/);
    });
});
