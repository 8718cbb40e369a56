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

/** The parts of the overview that come from the database. */
export interface StoredFigures {
  readonly breakers: readonly StoredBreaker[];
  readonly queue: StoredQueue;
  /** By minute. */
  readonly figures: ReadonlyMap<number, MinuteAmounts>;
}

type FiguresContext = Pick<RelayContext, 'database' | 'minuteCounts'>;

const states = ['due', 'waiting', 'running', 'dead'] as const;

export const noFigures: StoredFigures = {
  breakers: [],
  queue: { due: 0, waiting: 0, running: 0, dead: 0, oldestDueAt: undefined },
  figures: new Map(),
};

/** Reads the figures for the minutes from `first` to `last`, inclusive. */
export async function readFigures(
  { database, minuteCounts }: FiguresContext,
  first: number,
  last: number,
): Promise<StoredFigures> {
  const [breakers, queue, figures] = await Promise.all([
    new BreakerStore(database).list(),
    readQueue(database),
    minuteCounts.read(first, last),
  ]);
  return { breakers, queue, figures };
}

async function readQueue({ jobs }: FiguresContext['database']): Promise<StoredQueue> {
  const [tallies, oldest] = await Promise.all([jobs.tally(), jobs.oldestDueAt()]);
  const [due = 0, waiting = 0, running = 0, dead = 0] = states.map((state) =>
    tallies.reduce((sum, tally) => sum + Number(tally[state]), 0),
  );
  return { due, waiting, running, dead, oldestDueAt: oldest === undefined ? undefined : Number(oldest) };
}
