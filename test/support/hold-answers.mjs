import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { holdAnswer } from './held-answer.mjs';

// A spawned program loads this first. It appends wrong answers to the file of the test file that spawned the program.
// Writes whole lines, because several programs share the file.

const file = process.env.WAXWING_TEST_WRONG_ANSWERS;
if (file !== undefined) {
  subscribe('waxwing:answered', async (answered) => {
    const { wrong } = await holdAnswer(answered);
    if (wrong !== undefined) appendFileSync(file, `${JSON.stringify(wrong)}\n`);
  });
}
