import picocolors from 'picocolors';

/** Tells a person what happens, step by step, on standard output. */
export class Narrator {
  #step = 0;

  title(text: string): void {
    process.stdout.write(`\n${picocolors.bold(text)}\n`);
  }

  /** One step of the journey, and what each party saw of it. */
  step(what: string, seen: Readonly<Record<string, string>> = {}): void {
    this.#step += 1;
    process.stdout.write(`\n${picocolors.bold(`${this.#step}. ${what}`)}\n`);
    for (const [who, sight] of Object.entries(seen)) this.detail(who, sight);
  }

  detail(label: string, text: string): void {
    process.stdout.write(`   ${picocolors.cyan(label.padEnd(11))} ${text}\n`);
  }

  /** A line to copy, on a line of its own. */
  command(what: string, line: string): void {
    process.stdout.write(`   ${what}:\n   ${line}\n`);
  }
}

/** The start of a long text, and how long it is. */
export function shorten(text: string, characters = 44): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}… (${text.length} characters)`;
}
