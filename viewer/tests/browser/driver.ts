// A real browser and the program, for tests of pages. SPRINGTIME_PROGRAM names the program; CHROMIUM the
// browser, where it is not the one on the path.

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

function program(): string {
    const found = process.env.SPRINGTIME_PROGRAM;
    if (!found) throw new Error("SPRINGTIME_PROGRAM must name the program");
    return found;
}

// Runs the program in a folder and returns what it printed.
export function springtime(folder: string, ...options: string[]): string {
    return execFileSync(program(), options, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

// The server of `springtime view`, which has printed its address.
export async function viewServer(folder: string, ...options: string[]): Promise<{ address: string; process: ChildProcess }> {
    const child = spawn(program(), ["view", ...options], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    for await (const block of child.stdout!) {
        text += String(block);
        const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(text);
        if (found) return { address: found[0], process: child };
    }
    throw new Error(`no address in: ${text}`);
}

export function temporaryFolder(): { path: string; remove(): void } {
    const path = mkdtempSync(join(tmpdir(), "springtime-"));
    return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export async function openBrowser(): Promise<Browser> {
    const executablePath =
        process.env.CHROMIUM ?? execFileSync("sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim();
    // WebGL in software: machines that test have no GPU. Without a sandbox, because containers run as root.
    const args = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
    return chromium.launch({ executablePath, args, timeout: 600_000 });
}

export interface Opened {
    page: Page;
    complaints: string[]; // errors and warnings of the page, and every request that left it
    close(): Promise<void>;
}

// Opens a file or an address.
export async function open(browser: Browser, what: string, options: BrowserContextOptions = {}): Promise<Opened> {
    const context = await browser.newContext({ viewport: { width: 1000, height: 640 }, ...options });
    context.setDefaultTimeout(300_000);
    const page = await context.newPage();
    const complaints: string[] = [];
    const address = what.startsWith("http") ? what : pathToFileURL(what).href;
    page.on("console", (message) => {
        // Chromium says this of every WebGL in software.
        if (["error", "warning"].includes(message.type()) && !/GPU stall|swiftshader/i.test(message.text())) {
            complaints.push(message.text());
        }
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
        if (!/^(data|blob):/.test(request.url()) && request.url() !== address) complaints.push(request.url());
    });
    await page.goto(address);
    return { page, complaints, close: () => context.close() };
}
