import type { RelayContext } from '../../context.js';
import { BreakerStore, type StoredBreaker } from '../../deliveries/breakers/breaker-store.js';
import type { MinuteAmounts } from '../minutes/minute-store.js';

export interface StoredQueue {
  readonly due: number;
  readonly waiting: number;
  readonly running: number;
  readonly dead: number;
  /** Unix milliseconds. */
  readonly oldestDueAt: number | undefined;
}

interface Figures {
  readonly breakers: readonly StoredBreaker[];
  readonly queue: StoredQueue;
  /** By minute. */
  readonly figures: ReadonlyMap<number, MinuteAmounts>;
}

const states = ['due', 'waiting', 'running', 'dead'] as const;

/** The parts of the overview that come from the database. Remembers the last reading. */
export class StoredFigures {
  readonly #context: Pick<RelayContext, 'database' | 'minuteCounts'>;
  #last: Figures = {
    breakers: [],
    queue: { due: 0, waiting: 0, running: 0, dead: 0, oldestDueAt: undefined },
    figures: new Map(),
  };

  constructor(context: Pick<RelayContext, 'database' | 'minuteCounts'>) {
    this.#context = context;
  }

  /** The last reading, which may be of other minutes; zeros before the first. */
  get last(): Figures {
    return this.#last;
  }

  /** Reads the figures, and those of the minutes from `first` to `last`, both included. */
  async read(first: number, last: number): Promise<Figures> {
    const { database, minuteCounts } = this.#context;
    const [breakers, queue, figures] = await Promise.all([
      new BreakerStore(database).list(),
      this.#readQueue(),
      minuteCounts.read(first, last),
    ]);
    this.#last = { breakers, queue, figures };
    return this.#last;
  }

  async #readQueue(): Promise<StoredQueue> {
    const { jobs } = this.#context.database;
    const [tallies, oldest] = await Promise.all([jobs.tally(), jobs.oldestDueAt()]);
    const [due = 0, waiting = 0, running = 0, dead = 0] = states.map((state) =>
      tallies.reduce((sum, tally) => sum + Number(tally[state]), 0),
    );
    return { due, waiting, running, dead, oldestDueAt: oldest === undefined ? undefined : Number(oldest) };
  }
}
