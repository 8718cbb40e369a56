/** Returns the element of index.html with this id. @throws Error if there is no such element. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found;
}

/** Creates an element with text or child nodes. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  content: string | readonly Node[],
  className = '',
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.className = className;
  made.append(...(typeof content === 'string' ? [content] : content));
  return made;
}

/** Replaces an element's text and class. The class sets the color for good and bad news. */
export function tell(id: string, sentence: string, className: 'good' | 'bad' | 'waiting' | '' = ''): void {
  const element = byId(id);
  element.textContent = sentence;
  element.className = className;
}

const shownCharacters = 96;

/** Shows the first characters and the size of sealed bytes, and what they mean. */
export function tellBytes(id: string, base64: string, meaning: string): void {
  const element = byId(id);
  const shown = base64.length > shownCharacters ? `${base64.slice(0, shownCharacters)}…` : base64;
  const size = atob(base64).length.toLocaleString('en');
  element.className = '';
  element.replaceChildren(
    make('pre', [make('code', shown)], 'bytes'),
    make('p', `${size} bytes. ${meaning}`, 'size'),
  );
}
