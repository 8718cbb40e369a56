import { matchingRows, readPages } from '@waxwing/storage';
import { describe, expect, it } from 'vitest';

/**
 * Reads pages of numbers. Returns the pages, and the position passed to each read (the last number of the previous
 * page).
 */
async function readNumbers(count: number, rowsPerPage: number) {
  const given: (number | undefined)[] = [];
  const pages: number[][] = [];
  const numbers = Array.from({ length: count }, (_, index) => index);
  const read = async (last: number | undefined) => {
    given.push(last);
    return numbers.filter((number) => number > (last ?? -1)).slice(0, rowsPerPage);
  };
  for await (const page of readPages(rowsPerPage, read)) pages.push(page);
  return { pages, given };
}

async function match(pages: string[][], filter: { readonly text?: string; readonly limit?: number }) {
  let read = 0;
  async function* reading() {
    for (const page of pages) {
      read++;
      yield page;
    }
  }
  const found: string[] = [];
  for await (const rows of matchingRows(reading(), filter, (row) => [undefined, null, row])) {
    found.push(...rows);
  }
  return { found, read };
}

describe('pages of rows', () => {
  it.each([
    [0, 3, [], [undefined]],
    [2, 3, [[0, 1]], [undefined]],
    [3, 3, [[0, 1, 2]], [undefined, 2]],
    [5, 2, [[0, 1], [2, 3], [4]], [undefined, 1, 3]],
  ])('of %i rows, %i each, continue after the last row', async (count, rowsPerPage, pages, given) => {
    expect(await readNumbers(count, rowsPerPage)).toEqual({ pages, given });
  });

  it('are read only when they are needed', async () => {
    let reads = 0;
    for await (const [row] of readPages(1, async () => [reads++])) if (row === 2) break;
    expect(reads).toBe(3);
  });

  it('are searched case-insensitively, up to the limit', async () => {
    const pages = [['Wren', 'Rook'], ['crow'], ['CROSSBILL', 'Crake'], ['crane']];
    expect(await match(pages, {})).toEqual({ found: pages.flat(), read: 4 });
    expect(await match(pages, { text: 'CrO' })).toEqual({ found: ['crow', 'CROSSBILL'], read: 4 });
    expect(await match(pages, { text: 'cr', limit: 2 })).toEqual({ found: ['crow', 'CROSSBILL'], read: 3 });
    expect(await match(pages, { limit: 3 })).toEqual({ found: ['Wren', 'Rook', 'crow'], read: 2 });
    expect(await match(pages, { text: 'owl' })).toEqual({ found: [], read: 4 });
  });
});
