import { CommandError } from './command-error.js';
import type { Terminal } from './command-line.js';

/**
 * Lets what cannot be undone happen only when it was agreed to: by `--yes`, or by a person who is asked.
 * @throws CommandError when it was not.
 */
export async function confirmDestruction(
  terminal: Terminal,
  isAgreed: boolean | undefined,
  question: string,
): Promise<void> {
  if (isAgreed === true) return;
  if (terminal.confirm === undefined) {
    throw new CommandError('This cannot be undone and there is no terminal to ask at: add --yes.');
  }
  if (!(await terminal.confirm(question))) throw new CommandError('Nothing was changed.');
}
