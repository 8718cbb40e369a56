import { createTextStores } from '@waxwing/client';
import type { PushAccountId } from '@waxwing/protocol';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import fc from '../../support/fast-check.js';
import { TextsInMemory } from './texts-in-memory.js';

const account = 7n as unknown as PushAccountId;
const textName = `waxwing.seen.${account}`;
/** Unix seconds. */
const now = 1_800_000_000;
const future = (36 ** 9).toString(36);

/** Adds notifications to a stored text. Returns the results, the new text, and the warning in the next status. */
async function addTo(text: string | undefined, notifications: readonly { time: number; name: string }[]) {
  const storage = new TextsInMemory();
  if (text !== undefined) storage.texts.set(textName, text);
  const { seen, accounts } = createTextStores(storage);
  const answers: boolean[] = [];
  for (const each of notifications) answers.push(await seen.addIfNew({ pushAccountId: account, ...each }));
  return { answers, text: storage.texts.get(textName) ?? '', warning: accounts.takeWarning?.() };
}

const past = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ time: now - 1 - 3 * index, name: 'AAAA' }));
/** Notifications from the current second and the next one. */
const newOnes = [
  { time: now, name: 'BBBB' },
  { time: now, name: 'CCCC' },
  { time: now + 1, name: 'BBBB' },
];

/** With and without a watermark. */
const intactTexts = await Promise.all(
  [1, 2, 5, 150, 160].map(async (count) => (await addTo(undefined, past(count))).text),
);

const characters = fc.constantFrom(...'0az9:- v1+/A\n\u0000é');
const damages: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc.nat().map((at) => (text: string) => text.slice(0, 1 + (at % (text.length - 1)))),
  fc.nat().map((at) => (text: string) => text.slice(1 + (at % (text.length - 1)))),
  fc
    .nat()
    .map((at) => (text: string) => text.slice(0, at % text.length) + text.slice((at % text.length) + 1)),
  fc.tuple(fc.nat(), characters, fc.boolean()).map(([at, character, isInserted]) => (text: string) => {
    const index = at % text.length;
    return text.slice(0, index) + character + text.slice(isInserted ? index : index + 1);
  }),
  fc.tuple(fc.nat(), fc.nat()).map(([from, to]) => (text: string) => {
    const words = text.split(' ');
    const [word = ''] = words.splice(from % words.length, 1);
    words.splice(to % words.length, 0, word);
    return words.join(' ');
  }),
  // Random content in the format of a stored state.
  fc
    .tuple(
      fc.constantFrom('-', future, '0', now.toString(36), '?'),
      fc.array(fc.constantFrom(`${future}:AAAA`, `${now.toString(36)}:BBBB`, '1:AAAA', 'x:y:z'), {
        maxLength: 200,
      }),
    )
    .map(
      ([watermark, entries]) =>
        (text: string) =>
          ['v1', watermark, ...entries, text.slice(-8)].join(' '),
    ),
  fc.string({ minLength: 1 }).map((other) => () => other),
);

describe('a damaged text of seen notifications', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1000 * now });
    return () => vi.useRealTimers();
  });

  it('is either reported or harmless, and never makes a new notification count as a repeat', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...intactTexts), damages, async (intact, damage) => {
        const found = await addTo(damage(intact), newOnes);
        expect(found.answers).toEqual([true, true, true]);
        if (found.warning === undefined) expect(found).toEqual(await addTo(intact, newOnes));
        else expect(found.warning).toContain(`"${textName}" is damaged`);
        // The damaged text has been replaced, so the next start of the app finds no damage.
        const next = await addTo(found.text, newOnes);
        expect(next).toMatchObject({ answers: [false, false, false], warning: undefined });
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['without entries', 'v1 zzzzzzzzzz'],
    ['without entries, and a checksum', `v1 ${future} AAAAAAAA`],
    ['in the future, like its only entry', `v1 ${future} ${future}:AAAA`],
    ['later than all entries', `v1 ${future} ${'1:AAAA '.repeat(200)}`],
  ])('is tolerated with an impossible watermark: %s', async (_, text) => {
    expect(await addTo(text, newOnes)).toMatchObject({
      answers: [true, true, true],
      warning: expect.stringContaining(`"${textName}" is damaged`),
    });
  });

  it('protects against replays as far as the text is readable', async () => {
    const [, , , , full = ''] = intactTexts;
    const shown = past(160);
    expect(full).toMatch(/^v1 [^-]/);
    for (const damaged of [full.slice(0, -1), full.replace(/^v1 ./, 'v1 ?')]) {
      const { answers, warning } = await addTo(damaged, shown);
      expect(answers).not.toContain(true);
      expect(warning).toBeDefined();
    }
    expect((await addTo(full, shown)).warning).toBeUndefined();
  });

  it('is not reported after a full set of notifications from one second was copied', async () => {
    const { seen, accounts } = createTextStores(new TextsInMemory());
    const other = 8n as unknown as PushAccountId;
    const nameOf = (index: number) => (36 ** 3 + index).toString(36);
    for (let index = 0; index < 151; index += 1)
      await seen.addIfNew({ pushAccountId: account, time: now, name: nameOf(index) });
    await seen.copy(account, other);
    expect(await seen.addIfNew({ pushAccountId: other, time: now, name: nameOf(0) })).toBe(false);
    expect(await seen.addIfNew({ pushAccountId: other, time: now + 1, name: nameOf(0) })).toBe(true);
    expect(accounts.takeWarning?.()).toBeUndefined();
  });
});
