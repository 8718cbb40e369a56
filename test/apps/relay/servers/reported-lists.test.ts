import { expect, it } from 'vitest';
import { chunkCharacters, readReportedList } from '#relay/servers/stock/reported-lists.js';

/** Reads a list. Returns its rows and the number of parsed chunks. */
async function read(text: string, maximumRows = 100_000) {
  const rows: unknown[] = [];
  let chunks = 0;
  await readReportedList(text, {
    name: 'rows',
    maximumRows,
    nextTick: async () => {
      chunks += 1;
    },
    onRow: (row, index) => {
      expect(index).toBe(rows.length);
      rows.push(row);
    },
  });
  return { rows, chunks };
}

it.each(['[]', ' [ ] ', 'null', '[1]', '[{"a":[1,2,{"b":"],["}]},"\\"",null]\n'])(
  'a short list is read like JSON: %s',
  async (text) => {
    expect(await read(text)).toMatchObject({ rows: JSON.parse(text) ?? [] });
  },
);

it('a long list is parsed in chunks, regardless of the content of its rows', async () => {
  const row = { id: 1, text: 'a "quoted" \\ text, with ] } [ {', more: [[1], { a: ',' }], last: null };
  const rows = Array.from({ length: 20_000 }, (_, id) => ({ ...row, id }));
  for (const indentation of [0, 1]) {
    const text = JSON.stringify(rows, null, indentation);
    const result = await read(text);
    expect(result.rows).toEqual(rows);
    expect(result.chunks).toBeGreaterThanOrEqual(text.length / chunkCharacters);
  }
});

const many = '1234567,'.repeat(chunkCharacters / 4);
it.each([
  ['not a list', '{}', 'must be a JSON list'],
  ['not JSON', '[1,}]', 'must be JSON'],
  ['two lists', '[1],[2]', 'must be JSON'],
  ['a trailing comma', '[1,]', 'must be JSON'],
  ['a trailing comma after many rows', `[${many}]`, 'must be JSON'],
  ['an empty row after many rows', `[${many},${many}1]`, 'must be JSON'],
  ['a missing end', `[${many}"1]`, 'must be JSON'],
  ['too many rows', '[1,2,3,4]', 'must have at most 3 entries'],
  ['a row that is too long', `["${'x'.repeat(chunkCharacters)}"]`, `at most ${chunkCharacters} characters`],
])('a list is refused: %s', async (_case, text, message) => {
  const maximumRows = text.length < 20 ? 3 : 10_000_000;
  await expect(read(text, maximumRows)).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    message: expect.stringContaining(message),
  });
});
