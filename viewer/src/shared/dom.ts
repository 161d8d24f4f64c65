// Elements with text. All text goes through textContent, so names in files are never markup.

type Attributes = Record<string, string | number | boolean | undefined>;
type Child = Node | string;

export function element<Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    attributes: Attributes = {},
    ...children: Child[]
): HTMLElementTagNameMap[Tag] {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === false) continue;
        made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children);
    return made;
}

// A name from a file: isolated, so that marks of writing direction in it do not reorder the words
// around it.
export function nameElement(name: string): HTMLElement {
    return element("bdi", {}, name);
}
