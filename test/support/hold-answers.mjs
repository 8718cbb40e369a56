import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { holdAnswer } from './held-answer.mjs';

// Preloaded by spawned programs. Reports wrong answers by appending them to the file of the test worker. Writes each
// line in one call, because several programs share the file.

const file = process.env.WAXWING_TEST_WRONG_ANSWERS;
if (file !== undefined) {
  subscribe('waxwing:answered', async (answered) => {
    const { wrong } = await holdAnswer(answered);
    if (wrong !== undefined) appendFileSync(file, `${JSON.stringify(wrong)}\n`);
  });
}
