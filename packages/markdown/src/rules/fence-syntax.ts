/** An opening fence. */
export interface Fence {
  /** The backticks or tildes. Only a line of exactly these marks closes the fence. */
  readonly marks: string;
  /** The language in lowercase; empty if the fence does not specify one. */
  readonly language: string;
  /** The language as typed. */
  readonly typedLanguage: string;
  /** The text after the language. For a spoiler, this is its header. */
  readonly header: string;
}

const marksAtStart = /^(?:`{3,}|~{3,})/;
const languageAtStart = /^\{?\.?([A-Za-z0-9_+,\-./#]+)\}?/;

/** Parses a line without indentation as an opening fence. Returns undefined if the line is not a fence. */
export function readFence(line: string): Fence | undefined {
  const marks = marksAtStart.exec(line)?.[0];
  if (marks === undefined) return undefined;
  const rest = line.slice(marks.length).trim();
  if (rest === '') return { marks, language: '', typedLanguage: '', header: '' };
  if (/[`~]/.test(rest)) return undefined;
  const match = languageAtStart.exec(rest);
  if (match === null) return undefined;
  const typedLanguage = match[1] as string;
  const header = rest.slice(match[0].length).trim();
  return { marks, language: typedLanguage.toLowerCase(), typedLanguage, header };
}

/** Returns whether the content of a fence is parsed as Markdown, as in quotes and spoilers. */
export function isContainer({ language }: Fence): boolean {
  return language === 'quote' || language === 'quoted' || language === 'spoiler';
}

/** Tracks the open fences while the caller reads a text line by line. */
export class OpenFences {
  // Innermost last.
  readonly #open: Fence[] = [];

  get depth(): number {
    return this.#open.length;
  }

  /** Whether the current line is inside code or TeX, which only the closing fence ends. */
  get isVerbatim(): boolean {
    const innermost = this.#open.at(-1);
    return innermost !== undefined && !isContainer(innermost);
  }

  /** Processes the next line, which must have no trailing whitespace. */
  read(line: string): void {
    if (this.#open.at(-1)?.marks === line) this.#open.pop();
    else if (!this.isVerbatim) {
      const fence = readFence(line);
      if (fence !== undefined) this.#open.push(fence);
    }
  }
}
