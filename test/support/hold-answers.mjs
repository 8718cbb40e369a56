import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { holdAnswer } from './held-answer.mjs';

// Preloaded into spawned programs. Appends one line per invalid response to the test worker's file. Each line is a
// single write, because several programs share the file.

const file = process.env.WAXWING_TEST_WRONG_ANSWERS;
if (file !== undefined) {
  subscribe('waxwing:answered', async (answered) => {
    const { wrong } = await holdAnswer(answered);
    if (wrong !== undefined) appendFileSync(file, `${JSON.stringify(wrong)}\n`);
  });
}
