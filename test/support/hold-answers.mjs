import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { holdAnswer } from './held-answer.mjs';

// A spawned program loads this before anything of its own: what is wrong with its answers goes to the file of the test
// file that spawned it. Whole lines, since several programs write to it.

const file = process.env.WAXWING_TEST_WRONG_ANSWERS;
if (file !== undefined) {
  subscribe('waxwing:answered', async (answered) => {
    const { wrong } = await holdAnswer(answered);
    if (wrong !== undefined) appendFileSync(file, `${JSON.stringify(wrong)}\n`);
  });
}
