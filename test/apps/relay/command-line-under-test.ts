import { runRelayCommand as runProgram } from '@waxwing/relay';
import type { Terminal } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';

export interface CommandRun {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Questions that the command asked. */
  readonly questions: readonly string[];
}

export interface CommandRunOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** A person's answer to questions. Without it there is no terminal. */
  readonly answer?: boolean;
  /** Default: {@link commandClock}. */
  readonly clock?: () => number;
}

/** The time for every command. */
export const commandClock = (): number => 1_773_200_000_000;

/** Runs a command of `waxwing-relay` in this process, at a terminal that records its output. */
export async function runRelayCommand(
  argv: readonly string[],
  { environment, answer, clock = commandClock }: CommandRunOptions,
): Promise<CommandRun> {
  const printed: string[] = [];
  const said: string[] = [];
  const questions: string[] = [];
  const terminal: Terminal = {
    environment,
    clock,
    print: (text) => void printed.push(text),
    say: (text) => void said.push(text),
    async ask(question) {
      if (answer !== undefined) questions.push(question);
      return answer;
    },
    readSecret: async () => new Secret(''),
  };
  const status = await runProgram(argv, terminal);
  return { status, stdout: printed.join('\n'), stderr: said.join('\n'), questions };
}
