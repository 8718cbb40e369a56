/** An opening fence, without its indentation. */
export interface Fence {
  /** The backticks or tildes; only the very same line closes the fence. */
  readonly marks: string;
  /** In lower case; empty when none is named. */
  readonly language: string;
  /** The language as typed. */
  readonly typedLanguage: string;
  /** What follows the language: the header of a spoiler. */
  readonly header: string;
}

const marksAtStart = /^(?:`{3,}|~{3,})/;
const languageAtStart = /^\{?\.?([A-Za-z0-9_+,\-./#]+)\}?/;

/** Reads a line as an opening fence; undefined when it is none. */
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

/** Whether what the fence holds is read as Markdown, fences included. */
export function isContainer({ language }: Fence): boolean {
  return language === 'quote' || language === 'quoted' || language === 'spoiler';
}

/** The fences open at a line, innermost last. */
export class OpenFences {
  readonly #open: Fence[] = [];

  get depth(): number {
    return this.#open.length;
  }

  /** Whether the text at hand is code or TeX, which nothing but the closing fence ends. */
  get isVerbatim(): boolean {
    const innermost = this.#open.at(-1);
    return innermost !== undefined && !isContainer(innermost);
  }

  /** Takes the next line, trimmed at its end. */
  read(line: string): void {
    if (this.#open.at(-1)?.marks === line) this.#open.pop();
    else if (!this.isVerbatim) {
      const fence = readFence(line);
      if (fence !== undefined) this.#open.push(fence);
    }
  }
}
