import { removeInBatches } from '@waxwing/storage';
import { describe, expect, it } from 'vitest';

/** Creates a table with this many old rows, which records each transaction's limit and number of removed rows. */
function tableWith(rows: number) {
  let left = rows;
  const batches: number[] = [];
  const limits: number[] = [];
  return {
    batches,
    limits,
    async removeSome(limit: number): Promise<number> {
      const removed = Math.min(left, limit);
      left -= removed;
      limits.push(limit);
      batches.push(removed);
      return removed;
    },
  };
}

const never = new AbortController().signal;

describe('removing in batches', () => {
  it('removes all rows, a few hundred per transaction', async () => {
    const table = tableWith(1700);
    expect(await removeInBatches(table.removeSome, never)).toBe(1700);
    expect(Math.max(...table.limits)).toBeLessThanOrEqual(500);
    expect(table.batches).toEqual([500, 500, 500, 200]);
  });

  it('stops after the current batch on shutdown, and returns the number of removed rows', async () => {
    const table = tableWith(1700);
    const stopping = new AbortController();
    const removing = removeInBatches(async (limit) => {
      if (table.batches.length === 1) stopping.abort();
      return table.removeSome(limit);
    }, stopping.signal);
    expect(await removing).toBe(1000);
  });
});
