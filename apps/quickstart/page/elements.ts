/** The element that index.html has under this id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found;
}

/** A new element with a text in it, or with others. */
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

/** Has an element say what became known, and whether that is as it should be. */
export function tell(id: string, sentence: string, className: 'good' | 'bad' | 'waiting' | '' = ''): void {
  const element = byId(id);
  element.textContent = sentence;
  element.className = className;
}

const shownCharacters = 96;

/** The size of what is opaque, and how it begins. */
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
