import { atEndOfTick } from './end-of-tick.js';

interface Pending<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

export interface BatcherOptions<Item> {
  /**
   * When to run a batch.
   *
   * - `end-of-tick` (default): runs the items of one event-loop tick as a batch, even if earlier batches are still
   *   running.
   * - `when-idle`: runs one batch at a time. Items that are added while a batch runs form the next batch.
   */
  readonly dispatch?: 'end-of-tick' | 'when-idle';
  /** Maximum items per batch. Default: no limit. */
  readonly maximumItems?: number;
  /** Returns how many items, counted from the first, fit into one batch; at least 1. Default: all, up to `maximumItems`. */
  readonly countFitting?: (items: readonly Item[]) => number;
  /**
   * Whether a single item may have caused a batch to fail. If so, the items are run one by one, in order, so that only
   * the bad item is rejected. Default: never.
   */
  readonly isolates?: (error: unknown) => boolean;
}

/**
 * Batches items that are added at about the same time (a DataLoader without the cache). `run` returns one result per
 * item, in order. If `run` rejects, all items in the batch are rejected with the same reason, unless failures are
 * isolated.
 */
export class Batcher<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #options: BatcherOptions<Item>;
  #pending: Pending<Item, Result>[] = [];
  #isRunning = false;

  constructor(
    run: (items: readonly Item[]) => Promise<readonly Result[]>,
    options: BatcherOptions<Item> = {},
  ) {
    this.#run = run;
    this.#options = options;
  }

  /** Whether a `when-idle` batcher is currently not running a batch. */
  get isIdle(): boolean {
    return !this.#isRunning;
  }

  /** Adds an item to the next batch, and returns its result. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ item, resolve, reject });
      if (this.#options.dispatch === 'when-idle') {
        if (!this.#isRunning) void this.#runOneAtATime();
      } else if (this.#pending.length === 1) atEndOfTick(() => this.#dispatchAll());
    });
  }

  #dispatchAll(): void {
    while (this.#pending.length > 0) void this.#runBatch(this.#takeBatch());
  }

  async #runOneAtATime(): Promise<void> {
    this.#isRunning = true;
    while (this.#pending.length > 0) await this.#runBatch(this.#takeBatch());
    this.#isRunning = false;
  }

  #takeBatch(): readonly Pending<Item, Result>[] {
    const { maximumItems = Number.POSITIVE_INFINITY, countFitting } = this.#options;
    const fitting = countFitting?.(this.#pending.slice(0, maximumItems).map(({ item }) => item));
    return this.#pending.splice(0, fitting ?? maximumItems);
  }

  async #runBatch(batch: readonly Pending<Item, Result>[]): Promise<void> {
    const items = batch.map(({ item }) => item);
    const outcomes = await settleBatch(items, this.#run, this.#options.isolates);
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') batch[index]?.resolve(outcome.value);
      else batch[index]?.reject(outcome.reason);
    }
  }
}

/**
 * Runs a batch and returns one outcome per item, in order. If the batch fails and `isolates` returns true for the
 * error, runs the items one by one, so that only the bad item fails.
 */
export async function settleBatch<Item, Result>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  isolates: (error: unknown) => boolean = () => false,
): Promise<PromiseSettledResult<Result>[]> {
  try {
    const results = await run(items);
    if (results.length !== items.length) throw new Error('a batch must have one result for each item');
    return results.map((value) => ({ status: 'fulfilled', value }));
  } catch (reason) {
    if (items.length <= 1 || !isolates(reason)) return items.map(() => ({ status: 'rejected', reason }));
  }
  const outcomes: PromiseSettledResult<Result>[] = [];
  for (const item of items) outcomes.push(...(await settleBatch([item], run)));
  return outcomes;
}
