import type { Transaction } from 'kysely';
import { rowsOfText } from './run-at-once.js';

// Batch sizes. Large batches need fewer executions. Only four sizes, so that the statement for each stays prepared.
const rowsPerStatement = [64, 16, 4, 1] as const;

/** A statement for any number of rows. Runs as few batches of 64, 16, 4 and 1 rows as possible. */
export class BulkStatement<Result = never> {
  readonly #shapes: readonly { readonly size: number; readonly sql: string }[];

  /**
   * @param build returns the SQL for the given number of rows. Its parameters are the values of all rows, row by row.
   */
  constructor(build: (rows: number) => string) {
    this.#shapes = rowsPerStatement.map((size) => ({ size, sql: build(size) }));
  }

  /** Runs the statement for all rows. Returns the rows of all executions, in no particular order. */
  async run<Tables>(db: Transaction<Tables>, rows: readonly (readonly unknown[])[]): Promise<Result[]> {
    const returned: Result[] = [];
    let offset = 0;
    for (const { size, sql } of this.#shapes) {
      for (; rows.length - offset >= size; offset += size) {
        const parameters = rows.slice(offset, offset + size).flat();
        for (const row of await rowsOfText<Tables, Result>(db, sql, parameters)) returned.push(row);
      }
    }
    return returned;
  }
}
