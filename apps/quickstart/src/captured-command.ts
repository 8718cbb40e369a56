import type { Terminal } from '@waxwing/service/command-line';
import type { Environment } from '@waxwing/service/config';
import { Secret } from '@waxwing/service/config';
import { systemClock } from '@waxwing/service/lifecycle';

type RunCommandLine = (argv: readonly string[], terminal: Terminal) => Promise<number>;

/**
 * Runs an operator command within this process and returns its JSON output.
 * @throws Error with the command's messages if the command fails.
 */
export async function captureJson<T>(
  runCommandLine: RunCommandLine,
  environment: Environment,
  argv: readonly string[],
): Promise<T> {
  const printed: string[] = [];
  const said: string[] = [];
  const status = await runCommandLine([...argv, '--json'], {
    environment,
    clock: systemClock,
    print: (text) => void printed.push(text),
    say: (text) => void said.push(text),
    ask: async () => undefined,
    readSecret: async () => new Secret(''),
  });
  if (status !== 0) throw new Error(`${argv.join(' ')} failed: ${said.join('\n')}`);
  return JSON.parse(printed.join('\n')) as T;
}
