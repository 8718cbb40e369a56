import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { featureLevel } from '#server/people/realm/feature-level.js';
import { eachBackend } from '../../../support/test-databases.js';
import { earlierProofs } from './earlier-level-proofs.js';
import { laterProofs } from './later-level-proofs.js';
import { LevelsUnderTest } from './levels-under-test.js';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/stock-clients.md'), 'utf8');

/** The table's rows: level, change, and this server's behavior. */
function rows(): { level: number; change: string; ours: string }[] {
  const [, section = ''] = page.split('## Feature levels\n');
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| (\d+) \|(.*)\|(.*)\|$/gm)].map(([, level, change = '', ours = '']) => ({
    level: Number(level),
    change: change.trim(),
    ours: ours.trim(),
  }));
}

/** The first level in the table. It follows the last level that identified devices by their public keys. */
const first = 432;

describe('the page of feature levels', () => {
  it('has each level up to the announced level exactly once, in order', () => {
    const levels = rows().map(({ level }) => level);
    expect(levels).toEqual(Array.from({ length: levels.length }, (_, index) => first + index));
    expect(levels.at(-1)).toBe(featureLevel);
  });

  it('says what each level changed, and what this server does unless nothing changed', () => {
    for (const { level, change, ours } of rows()) {
      expect([level, change]).not.toEqual([level, '']);
      expect([level, ours === '']).toEqual([level, change.startsWith('none: ')]);
    }
  });
});

const proofs = { ...earlierProofs, ...laterProofs };

describe('the proofs of feature levels', () => {
  it('exist for each level, except those that change nothing', () => {
    const changing = rows().filter(({ ours }) => ours !== '');
    expect(Object.keys(proofs).map(Number)).toEqual(changing.map(({ level }) => level));
  });
});

eachBackend((backend) => {
  const levels = new LevelsUnderTest();
  beforeAll(async () => levels.start(await backend.freshUrl()));
  afterAll(() => levels.server.close());

  describe('what a client may conclude from', () => {
    it.each(rows().filter(({ level }) => level in proofs))('level $level ($change): $ours', ({ level }) =>
      proofs[level]?.(levels),
    );
  });
});
