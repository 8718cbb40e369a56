import picocolors from 'picocolors';

/** Prints each step to standard output, for a person. */
export class Narrator {
  #step = 0;

  title(text: string): void {
    process.stdout.write(`\n${picocolors.bold(text)}\n`);
  }

  /** Prints one step of the journey and the data that each party saw. */
  step(what: string, seen: Readonly<Record<string, string>> = {}): void {
    this.#step += 1;
    process.stdout.write(`\n${picocolors.bold(`${this.#step}. ${what}`)}\n`);
    for (const [who, sight] of Object.entries(seen)) this.detail(who, sight);
  }

  detail(label: string, text: string): void {
    process.stdout.write(`   ${picocolors.cyan(label.padEnd(11))} ${text}\n`);
  }

  /** Prints a line to copy, on a line of its own. */
  command(what: string, line: string): void {
    process.stdout.write(`   ${what}:\n   ${line}\n`);
  }
}

/** Shortens a long text to its start and its length. */
export function shorten(text: string, characters = 44): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}… (${text.length} characters)`;
}
