import { printListing } from '@waxwing/service/command-line';
import { describe, expect, it } from 'vitest';

interface Bird {
  readonly id: number;
  readonly name: string;
}

/** Lists birds. Returns the sequence of page reads and printed lines. */
async function list(
  pages: readonly (readonly Bird[])[],
  { json, columns, more }: { json?: true; columns?: number; more?: Readonly<Record<string, unknown>> } = {},
) {
  const happened: string[] = [];
  const printed: string[] = [];
  async function* reading() {
    for (const [index, page] of pages.entries()) {
      happened.push(`read ${index}`);
      yield page;
    }
  }
  const print = (text: string) => {
    happened.push('print');
    printed.push(text);
  };
  const count = await printListing(
    { print, columns },
    { json },
    {
      name: 'birds',
      pages: reading(),
      machines: (bird) => bird,
      ...(more === undefined ? {} : { more }),
      head: ['id', 'name'],
      people: ({ id, name }) => [id, name],
      none: 'There are no birds.',
    },
  );
  return { count, happened, printed: printed.join('\n') };
}

const birds = (from: number, to: number): Bird[] =>
  Array.from({ length: to - from }, (_, index) => ({ id: from + index, name: `bird ${from + index}` }));

describe('a listing', () => {
  it.each([[[]], [[[]]], [[birds(0, 1)]], [[birds(0, 3), [], birds(3, 4), birds(4, 200)]]])(
    'prints the rows of all pages as JSON',
    async (pages) => {
      const { count, printed } = await list(pages, { json: true });
      expect(JSON.parse(printed)).toEqual({ birds: pages.flat() });
      expect(count).toBe(pages.flat().length);
    },
  );

  it('adds extra fields to the JSON', async () => {
    for (const pages of [[], [birds(0, 2)]]) {
      const { printed } = await list(pages, { json: true, more: { eggs: [1], nest: null } });
      expect(JSON.parse(printed)).toEqual({ birds: pages.flat(), eggs: [1], nest: null });
    }
  });

  it('prints the rows of a page before it reads the next', async () => {
    for (const options of [{}, { json: true as const }]) {
      const { happened } = await list([birds(0, 100), birds(100, 200), birds(200, 300)], options);
      expect(happened.indexOf('print')).toBeLessThan(happened.indexOf('read 1'));
      expect(happened.slice(happened.indexOf('read 1'), happened.indexOf('read 2'))).toContain('print');
    }
  });

  it('prints a wider cell of a later page in full, and fits it into the columns of a terminal', async () => {
    const name = 'a very long name of a bird';
    const pages = [birds(0, 60), [{ id: 60, name }]];
    expect((await list(pages)).printed).toContain(name);
    const { printed } = await list(pages, { columns: 30 });
    expect(Math.max(...printed.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(30);
    expect(printed.split('\n').slice(0, 3)).toEqual([
      '┌────┬─────────┐',
      '│ id │ name    │',
      '├────┼─────────┤',
    ]);
  });

  it('reports that there are no rows', async () => {
    expect((await list([[]])).printed).toBe('There are no birds.');
  });
});
