import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Answered } from '@waxwing/service/http';
import { afterAll, afterEach, expect } from 'vitest';

// Every test file loads this: each answer that an app gives in the test's own process is held against what its
// operation declares. It loads nothing of the product itself, which would cost each test file that needs none of it.

// Files that share a worker share the watch: it is begun by the first of them.

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
    begun.looking = begun.looking.then(() => look(begun, message as Answered));
  });
  return begun;
}

afterEach(async () => {
  await watch.looking;
  expect(watch.wrong.splice(0), 'answers that their operations do not declare').toEqual([]);
});

afterAll(() => {
  const file = process.env.WAXWING_PROVOKED_CODES;
  if (file === undefined) return;
  const lines = [`file ${expect.getState().testPath}`, ...watch.provoked];
  appendFileSync(file, lines.map((line) => `${line}\n`).join(''));
});

async function look({ provoked, wrong }: Watch, { declared, code, fields }: Answered): Promise<void> {
  const name = `${declared.method} ${declared.path}`;
  if (code !== undefined) {
    provoked.add(`${name} ${code}`);
    // Whoever sends answers has it loaded already.
    const { codesOf } = await import('@waxwing/service/http');
    if (!codesOf(declared).includes(code)) wrong.push(`${name} declares no ${code}`);
  } else if (fields !== undefined) {
    const parsed = declared.answer.safeParse(fields);
    if (!parsed.success) wrong.push(`${name} answered otherwise than declared: ${parsed.error.message}`);
    else if (!isDeepStrictEqual(written(parsed.data), written(fields))) {
      wrong.push(`${name} answered fields that it does not declare: ${written(fields)}`);
    }
  }
}

/** As it goes over the wire, with sorted names. */
function written(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner === 'bigint') return `${inner}`;
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
