import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { threadId } from 'node:worker_threads';

// Programs spawned by this test worker write wrong answers to this file.
const file = join(tmpdir(), `waxwing-wrong-answers-${process.pid}-${threadId}`);

const holding = pathToFileURL(join(import.meta.dirname, 'hold-answers.mjs')).href;

/** The environment of a spawned program that makes it check each answer against its operation's declaration. */
export const answersHeld = {
  NODE_OPTIONS: `--import=${holding}`,
  WAXWING_TEST_WRONG_ANSWERS: file,
} as const;

/** Wrong answers of spawned programs since the last call, one sentence each. Usually empty. */
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
