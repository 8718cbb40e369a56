import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { PublishedAnswer } from '@waxwing/service/http';
import { afterAll, afterEach, expect } from 'vitest';
import { holdAnswer } from './held-answer.mjs';
import { takeWrongAnswers } from './program-answers.js';

// Every test file loads this module. It checks each response against its operation's declaration, in this process and
// in spawned programs. It does not import product modules, because that would slow down test files that do not need
// them.

// Test files in the same worker share one check, which the first file starts.

interface Watch {
  readonly wrong: string[];
  readonly provoked: Set<string>;
  looking: Promise<void>;
}

const name = Symbol.for('waxwing.test.answers');
const shared = globalThis as { [name]?: Watch };
shared[name] ??= begin();
const watch = shared[name];

function begin(): Watch {
  const begun: Watch = { wrong: [], provoked: new Set(), looking: Promise.resolve() };
  subscribe('waxwing:answered', (message) => {
    begun.looking = begun.looking.then(async () => {
      const { provoked, wrong } = await holdAnswer(message as PublishedAnswer);
      if (provoked !== undefined) begun.provoked.add(provoked);
      if (wrong !== undefined) begun.wrong.push(wrong);
    });
  });
  return begun;
}

afterEach(async () => {
  await watch.looking;
  expectDeclared([...watch.wrong.splice(0), ...takeWrongAnswers()]);
});

afterAll(() => {
  // Includes responses that programs sent after the last test, such as at exit.
  expectDeclared(takeWrongAnswers());
  const file = process.env.WAXWING_PROVOKED_CODES;
  if (file === undefined) return;
  const lines = [`file ${expect.getState().testPath}`, ...watch.provoked];
  appendFileSync(file, lines.map((line) => `${line}\n`).join(''));
});

function expectDeclared(wrong: readonly string[]): void {
  expect(wrong, 'responses that their operations do not declare').toEqual([]);
}
