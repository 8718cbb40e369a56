import { runRelayCommand as runProgram } from '@waxwing/relay';
import type { Terminal } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';

export interface CommandRun {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Prompts that the command showed. */
  readonly questions: readonly string[];
}

export interface CommandRunOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** The user's answer to prompts. Without it, there is no terminal. */
  readonly answer?: boolean;
  /** Default: {@link commandClock}. */
  readonly clock?: () => number;
}

/** The fixed clock of all commands. */
export const commandClock = (): number => 1_773_200_000_000;

/** Runs a `waxwing-relay` command in this process, with a terminal that records the output. */
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
