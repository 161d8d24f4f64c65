// A message instead of a blank page.

export function showMessage(title: string, text: string): void {
    const box = document.createElement("section");
    box.className = "message";
    box.setAttribute("role", "alert");
    const heading = document.createElement("h1");
    heading.textContent = title;
    const words = document.createElement("p");
    words.textContent = text;
    box.append(heading, words);
    document.body.replaceChildren(box);
}

export function messageOf(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}

// Runs a page; what it throws becomes a message.
export function runPage(what: string, start: () => void | Promise<void>): void {
    const fail = (error: unknown) => showMessage(`${what} cannot be shown`, messageOf(error));
    try {
        Promise.resolve(start()).catch(fail);
    } catch (error) {
        fail(error);
    }
}
