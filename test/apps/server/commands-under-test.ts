import { runServerCommand } from '@waxwing/server';
import type { Terminal } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import { systemClock } from '@waxwing/service/lifecycle';
import { expect } from 'vitest';
import type { ServerUnderTest } from './server-under-test.js';

interface Result {
  readonly code: number;
  readonly printed: string;
  readonly said: string;
  readonly asked: readonly string[];
}

/** Runs commands while a server runs. */
export function commandsUnderTest(server: () => ServerUnderTest) {
  /** Runs a command. `answer` is the reply to a confirmation prompt, `typed` the input at a hidden prompt. */
  async function run(
    command: string,
    answer?: boolean,
    typed = '',
    onPrint = (): void => undefined,
  ): Promise<Result> {
    const [printed, said, asked]: [string[], string[], string[]] = [[], [], []];
    const terminal: Terminal = {
      environment: { SERVER_DATABASE: server().databaseUrl, SERVER_REALM_NAME: 'Example' },
      clock: systemClock,
      print: (text) => {
        printed.push(text);
        onPrint();
      },
      say: (text) => void said.push(text),
      ask: async (question) => {
        asked.push(question);
        return answer;
      },
      readSecret: async () => new Secret(typed),
    };
    const code = await runServerCommand(command.split(' '), terminal);
    return { code, printed: printed.join('\n'), said: said.join('\n'), asked };
  }

  async function runJson(command: string): Promise<Record<string, unknown>> {
    const { code, printed, said } = await run(`${command} --json`);
    expect([code, said]).toEqual([0, '']);
    return JSON.parse(printed) as Record<string, unknown>;
  }

  return { run, runJson };
}
