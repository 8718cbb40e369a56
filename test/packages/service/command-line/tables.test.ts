import { formatTable } from '@waxwing/service/command-line';
import { describe, expect, it } from 'vitest';

const content = {
  head: ['id', 'state', 'why'],
  rows: [
    ['7d3f5a58-52f0-4a4b-9d0b-0c6bb1b0ad0e', 'active', 'one\ntwo'],
    ['a', 'deactivated', 'because the vendor said so, again and again'],
    ['b', 'dead', 'active'],
  ],
};
const escapeCharacter = String.fromCharCode(27);
const widest = (text: string) => Math.max(...text.split('\n').map(({ length }) => length));
/** Returns the text of a table's cells, without line breaks. */
const letters = (text: string) =>
  [...text]
    .filter((letter) => /[a-z0-9-]/.test(letter))
    .sort()
    .join('');

describe('a table', () => {
  it('is no wider than the terminal, and loses nothing', async () => {
    const whole = await formatTable({}, content);
    expect(widest(whole)).toBe(100);
    for (const columns of [40, 60, 80, 99]) {
      const fitted = await formatTable({ columns }, content);
      expect(widest(fitted)).toBeLessThanOrEqual(columns);
      expect(letters(fitted)).toBe(letters(whole));
    }
    expect(await formatTable({ columns: 200 }, content)).toBe(whole);
  });

  it('has the same layout with many rows as with few, and takes linear time', async () => {
    const rows = Array.from({ length: 20_000 }, (_, number) => [number, 'active', `日本 ${number}`]);
    const long = (await formatTable({}, { head: content.head, rows })).split('\n');
    expect(long).toHaveLength(2 * rows.length + 3);
    const borders = new Set(long.filter((_, index) => index % 2 === 0).slice(1, -1));
    expect(borders.size).toBe(1);
    expect(long.filter((line) => line.includes('active'))).toHaveLength(rows.length);
    const short = await formatTable({}, { head: content.head, rows: rows.slice(0, 50) });
    expect(long.slice(0, 5).map((line) => line.trimEnd().at(0))).toEqual(
      short
        .split('\n')
        .slice(0, 5)
        .map((line) => line.trimEnd().at(0)),
    );
  });

  it('colors only states, and only in a terminal that shows colors', async () => {
    const plain = await formatTable({}, content);
    const coloured = await formatTable({ isColoured: true }, content);
    const sequences = [
      ...coloured.matchAll(new RegExp(`${escapeCharacter}\\[(\\d+)m([a-z ]+)${escapeCharacter}\\[39m`, 'g')),
    ];
    expect(sequences.map(([, colour, text]) => [colour, text])).toEqual([
      ['32', 'active'],
      ['31', 'dead'],
    ]);
    expect(coloured.replace(new RegExp(`${escapeCharacter}\\[\\d+m`, 'g'), '')).toBe(plain);
  });
});
