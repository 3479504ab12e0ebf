type Child = Node | string | undefined;

/** One element with attributes and children; what is undefined is left out. No text becomes markup. */
export function build<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(attribute, value);
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}
