// Light or dark, as the reader's system says, until the reader chooses. Colours are CSS variables
// (theme.css), so that everything that is drawn asks here.

import "./theme.css";

export type Theme = "light" | "dark";
type Listener = (theme: Theme) => void;

const listeners = new Set<Listener>();
let chosen = false; // by the reader
let started = false;

// Not before somebody asks: the modules that draw are tested where there is no page.
function start(): void {
    if (started) return;
    started = true;
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const follow = () => {
        if (!chosen) apply(system.matches ? "dark" : "light");
    };
    system.addEventListener("change", follow);
    follow();
}

function apply(next: Theme): void {
    document.documentElement.dataset.theme = next;
    for (const listener of listeners) listener(next);
}

export function theme(): Theme {
    start();
    return document.documentElement.dataset.theme === "dark" ? "dark" : "light";
}

export function setTheme(next: Theme): void {
    start();
    chosen = true;
    apply(next);
}

// Calls now, and whenever the theme changes.
export function onTheme(listener: Listener): void {
    listeners.add(listener);
    listener(theme());
}

// The value of a CSS variable, such as --ink.
export function cssVariable(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function reducedMotion(): boolean {
    return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

export function themeButton(): HTMLButtonElement {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    onTheme((now) => {
        button.textContent = now === "dark" ? "Light" : "Dark";
        button.setAttribute("aria-label", `Switch to ${now === "dark" ? "light" : "dark"} colours`);
    });
    button.addEventListener("click", () => setTheme(theme() === "dark" ? "light" : "dark"));
    return button;
}
