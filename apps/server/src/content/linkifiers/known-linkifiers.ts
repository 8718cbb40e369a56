import { type Linkifier, parseLinkifier } from '@waxwing/markdown';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Signals } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { type LinkifierRecord, readLinkifiers } from './linkifier-store.js';

const channel = 'linkifiers';

/** Cache TTL. Bounds staleness: a process that exits right after its commit sends no signal. */
const maximumAgeMilliseconds = 10_000;

/**
 * Caches the organization's compiled linkifiers for rendering, so that sending a message needs no query for them. A
 * signal from any process invalidates the cache.
 */
export class KnownLinkifiers {
  readonly #clock: Clock;
  readonly #signals: Signals;
  #compiled = new Map<string, Linkifier>();
  #readAt: number | undefined;
  /** Counts the changes that this process knows of. */
  #changes = 0;
  #stop: (() => void) | undefined;

  /** Creates a cache that gets no signals from other processes. See {@link KnownLinkifiers.open}. */
  constructor(signals: Signals, clock: Clock) {
    this.#signals = signals;
    this.#clock = clock;
  }

  /** Creates a cache that is invalidated by changes in any process. */
  static async open(signals: Signals, clock: Clock): Promise<KnownLinkifiers> {
    const linkifiers = new KnownLinkifiers(signals, clock);
    linkifiers.#stop = await signals.listen(channel, () => linkifiers.#forget());
    return linkifiers;
  }

  /** Returns all linkifiers, in the order in which they are applied. Queries `db` if the cache is stale. */
  async read(db: Kysely<ServerTables>): Promise<readonly Linkifier[]> {
    const now = this.#clock();
    if (this.#readAt === undefined || now - this.#readAt >= maximumAgeMilliseconds) {
      const changes = this.#changes;
      const compiled = this.#compile(await readLinkifiers(db));
      // Does not cache a list that was read before a concurrent change.
      if (changes !== this.#changes) return [...compiled.values()];
      this.#compiled = compiled;
      this.#readAt = now;
    }
    return [...this.#compiled.values()];
  }

  /** Invalidates the cache in every process once the transaction is committed. */
  async noteChange(transaction: ServerTransaction): Promise<void> {
    // Clears this process's cache on commit, without waiting for the signal: the administrator's next message must use
    // the change.
    transaction.afterCommit(() => this.#forget());
    await this.#signals.notify(transaction, channel, '');
  }

  /** Stops receiving signals from other processes. */
  close(): void {
    this.#stop?.();
  }

  #forget(): void {
    this.#changes += 1;
    this.#readAt = undefined;
  }

  /** Reuses compiled linkifiers. Skips linkifiers that no longer compile. */
  #compile(records: readonly LinkifierRecord[]): Map<string, Linkifier> {
    return new Map(
      records.flatMap(({ pattern, url_template: urlTemplate }) => {
        const key = JSON.stringify([pattern, urlTemplate]);
        const known = this.#compiled.get(key);
        if (known !== undefined) return [[key, known]];
        const parsed = parseLinkifier(pattern, urlTemplate);
        return parsed.kind === 'problem' ? [] : [[key, parsed.linkifier]];
      }),
    );
  }
}
