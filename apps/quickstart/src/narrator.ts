import picocolors from 'picocolors';

/** Prints progress to standard output, step by step. */
export class Narrator {
  #step = 0;

  title(text: string): void {
    process.stdout.write(`\n${picocolors.bold(text)}\n`);
  }

  /** Prints one step of the journey, and what each party could see. */
  step(what: string, seen: Readonly<Record<string, string>> = {}): void {
    this.#step += 1;
    process.stdout.write(`\n${picocolors.bold(`${this.#step}. ${what}`)}\n`);
    for (const [who, sight] of Object.entries(seen)) this.detail(who, sight);
  }

  detail(label: string, text: string): void {
    process.stdout.write(`   ${picocolors.cyan(label.padEnd(11))} ${text}\n`);
  }

  /** Prints a command or link on its own line, so that it is easy to copy. */
  command(what: string, line: string): void {
    process.stdout.write(`   ${what}:\n   ${line}\n`);
  }
}

/** Shortens a long text to its first characters, followed by its length. */
export function shorten(text: string, characters = 44): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}… (${text.length} characters)`;
}
