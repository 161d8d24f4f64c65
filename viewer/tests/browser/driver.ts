// A headless Chromium that opens pages which the program wrote. Every test file gets a browser and a
// folder of its own:
//
//     const browser = useBrowser();
//     it("…", async () => {
//         browser.run("report", "run", "--out", "r.html");
//         const page = await browser.open("r.html");
//         …
//         expect(page.complaints).toEqual([]);
//     });
//
// SPRINGTIME_PROGRAM names the program, CHROMIUM the browser (/usr/bin/chromium otherwise).

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 900 };

// A page, and all that it complained of: errors on the console, exceptions, requests that left it.
export interface OpenedPage {
    page: Page;
    complaints: string[];
}

export class TestBrowser {
    folder = "";
    private browser?: Browser;

    async start(): Promise<void> {
        this.folder = mkdtempSync(join(tmpdir(), "springtime-pages-"));
        this.browser = await chromium.launch({
            executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
            args: [
                "--no-sandbox",
                "--use-gl=angle",
                "--use-angle=swiftshader",
                "--enable-unsafe-swiftshader",
                "--disable-background-networking",
            ],
        });
    }

    async stop(): Promise<void> {
        await this.browser?.close();
        rmSync(this.folder, { recursive: true, force: true });
    }

    path(name: string): string {
        return join(this.folder, name);
    }

    // Runs the program in the folder; its standard output. A failure throws with its messages.
    run(...words: string[]): string {
        return execFileSync(program(), words, { cwd: this.folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    }

    // Starts the program in the folder; the address that it prints.
    async serve(...words: string[]): Promise<{ address: string; process: ChildProcess }> {
        const child = spawn(program(), words, { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
        let text = "";
        for await (const block of child.stdout!) {
            text += String(block);
            const found = /http:\/\/\S+/.exec(text);
            if (found) return { address: found[0], process: child };
        }
        throw new Error(`no address in: ${text}`);
    }

    // `address` is a file of the folder, or begins with http.
    async open(address: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
        const context = await this.browser!.newContext({ viewport: DESKTOP, ...options });
        context.setDefaultTimeout(300_000); // software draws slowly on a busy machine
        const page = await context.newPage();
        const complaints: string[] = [];
        page.on("console", (message) => {
            if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
        });
        page.on("pageerror", (error) => complaints.push(String(error)));
        page.on("dialog", (dialog) => {
            complaints.push(`dialog: ${dialog.message()}`);
            void dialog.dismiss();
        });
        const url = address.startsWith("http") ? address : pathToFileURL(this.path(address)).href;
        page.on("request", (request) => {
            const own = request.url() === url || /^(data|blob):/.test(request.url());
            if (!own) complaints.push(`request: ${request.url()}`);
        });
        await page.goto(url);
        return { page, complaints };
    }
}

function program(): string {
    const named = process.env.SPRINGTIME_PROGRAM;
    if (!named) throw new Error("SPRINGTIME_PROGRAM is not set: it names the program to test");
    return named;
}

export function useBrowser(): TestBrowser {
    const browser = new TestBrowser();
    beforeAll(() => browser.start());
    afterAll(() => browser.stop());
    return browser;
}

// SwiftShader tells of its speed; nothing else may be said.
export function seriousOf(complaints: string[]): string[] {
    return complaints.filter((text) => !/GPU stall due to ReadPixels|software WebGL/i.test(text));
}
