// Light or dark, as the reader's system says, until the reader chooses. Colours are CSS variables
// (theme.css), so that everything that is drawn asks here.

import "./theme.css";

export type Theme = "light" | "dark";
type Listener = (theme: Theme) => void;

const listeners = new Set<Listener>();
const systemIsDark = () => window.matchMedia("(prefers-color-scheme: dark)");

export function theme(): Theme {
    const chosen = document.documentElement.dataset.theme;
    if (chosen === "light" || chosen === "dark") return chosen;
    return systemIsDark().matches ? "dark" : "light";
}

function tell(): void {
    for (const listener of listeners) listener(theme());
}

export function setTheme(next: Theme): void {
    document.documentElement.dataset.theme = next;
    tell();
}

// Calls now, and whenever the theme changes.
export function onTheme(listener: Listener): void {
    if (listeners.size === 0) systemIsDark().addEventListener("change", tell);
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
