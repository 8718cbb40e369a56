import type { StartCheck } from '../config/start-check.js';
import { describeBootError } from '../lifecycle/run-process.js';
import { CommandError } from './command-error.js';
import type { Terminal } from './terminal.js';

/**
 * Runs the startup checks one after another and prints each result.
 * @param hide hides secrets in a message
 * @throws CommandError if a check failed
 */
export async function checkStart(
  checks: readonly StartCheck[],
  { print }: Terminal,
  hide: (text: string) => string,
): Promise<void> {
  let failures = 0;
  for (const { name, check } of checks) {
    try {
      const note = await check();
      print(note === undefined ? `ok      ${name}` : `ok      ${name}: ${note}`);
    } catch (error) {
      failures += 1;
      print(`FAILED  ${name}: ${hide(describeBootError(error))}`);
    }
  }
  if (failures > 0) throw new CommandError('The start would fail: fix the problems listed above.');
}
