import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { threadId } from 'node:worker_threads';

// Programs spawned by this test worker append their invalid responses to this file.
const file = join(tmpdir(), `waxwing-wrong-answers-${process.pid}-${threadId}`);

const holding = pathToFileURL(join(import.meta.dirname, 'hold-answers.mjs')).href;

/** Environment variables that make a spawned program check each response against its operation's declaration. */
export const answersHeld = {
  NODE_OPTIONS: `--import=${holding}`,
  WAXWING_TEST_WRONG_ANSWERS: file,
} as const;

/** Returns the invalid responses that spawned programs have sent since the last call, one sentence each. */
export function takeWrongAnswers(): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  rmSync(file);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as string);
}
