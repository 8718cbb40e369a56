import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { threadId } from 'node:worker_threads';

// The programs that one worker of the tests spawned write into this file what is wrong with their answers.
const file = join(tmpdir(), `waxwing-wrong-answers-${process.pid}-${threadId}`);

const holding = pathToFileURL(join(import.meta.dirname, 'hold-answers.mjs')).href;

/** What a spawned program is given, so that it holds each of its answers against what its operation declares. */
export const answersHeld = {
  NODE_OPTIONS: `--import=${holding}`,
  WAXWING_TEST_WRONG_ANSWERS: file,
} as const;

/** What was wrong with answers of spawned programs since the last time, a sentence each; none most of the time. */
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
