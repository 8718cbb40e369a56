import { type Linkifier, parseLinkifier } from '@waxwing/markdown';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Signals } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { ServerTables, ServerTransaction } from '../tables.js';
import { type LinkifierRecord, readLinkifiers } from './linkifier-store.js';

const channel = 'linkifiers';

/** After so long they are read again, since a signal is lost where a process ends right after the commit. */
const maximumAgeMilliseconds = 10_000;

/**
 * The organisation's linkifiers, compiled, as texts are rendered with them. A process keeps them in memory, so that a
 * message costs no statement, until it is told that some process has changed them.
 */
export class KnownLinkifiers {
  readonly #clock: Clock;
  readonly #signals: Signals;
  #compiled = new Map<string, Linkifier>();
  #readAt: number | undefined;
  /** How often something has changed, as far as this process knows. */
  #changes = 0;
  #stop: (() => void) | undefined;

  /** Hears of no change by another process. */
  constructor(signals: Signals, clock: Clock) {
    this.#signals = signals;
    this.#clock = clock;
  }

  /** Hears of every change. */
  static async open(signals: Signals, clock: Clock): Promise<KnownLinkifiers> {
    const linkifiers = new KnownLinkifiers(signals, clock);
    linkifiers.#stop = await signals.listen(channel, () => linkifiers.#forget());
    return linkifiers;
  }

  /** All of them, in the order in which they are applied; read by `db` where they are not known. */
  async read(db: Kysely<ServerTables>): Promise<readonly Linkifier[]> {
    const now = this.#clock();
    if (this.#readAt === undefined || now - this.#readAt >= maximumAgeMilliseconds) {
      const changes = this.#changes;
      const compiled = this.#compile(await readLinkifiers(db));
      // What was read before a change is for this once.
      if (changes !== this.#changes) return [...compiled.values()];
      this.#compiled = compiled;
      this.#readAt = now;
    }
    return [...this.#compiled.values()];
  }

  /** Once the transaction is committed, no process renders with those of before. */
  async noteChange(transaction: ServerTransaction): Promise<void> {
    // Here at once, so that whoever has changed them sees it in the next message.
    transaction.afterCommit(() => this.#forget());
    await this.#signals.notify(transaction, channel, '');
  }

  /** Hears no more of other processes. */
  close(): void {
    this.#stop?.();
  }

  #forget(): void {
    this.#changes += 1;
    this.#readAt = undefined;
  }

  /** What was compiled before stays; what cannot be compiled any more is left out. */
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
