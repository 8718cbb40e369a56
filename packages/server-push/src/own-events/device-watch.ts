import { once } from 'node:events';
import type { UserId } from '@waxwing/protocol';
import type { AnyTransaction, Signals } from '@waxwing/storage';
import type { AddressedEvent } from '../server-push-options.js';

const channel = 'server-push/devices';
/**
 * Maximum number of open polls per user. Above it, the user's oldest poll ends. Each phone has one poll open at a time.
 */
const maximumPollsPerUser = 20;

/** Wakes a user's polls in all processes on the database when one of the user's registrations changes. */
export class DeviceWatch {
  readonly #signals: Signals;
  readonly #polls = new Map<UserId, Set<AbortController>>();
  #listening: Promise<() => void> | undefined;

  constructor(signals: Signals) {
    this.#signals = signals;
  }

  /** Wakes the polls of the users in the events' audiences when the transaction commits. */
  async publish(transaction: AnyTransaction, events: readonly AddressedEvent[]): Promise<void> {
    for (const userId of new Set(events.flatMap(({ audience }) => audience))) {
      await this.#signals.notify(transaction, channel, String(userId));
    }
  }

  /**
   * Runs `poll` with a function that waits for the next change to the user's registrations after `poll` began. Aborting
   * `signal` also ends the wait.
   */
  async watch<Result>(
    userId: UserId,
    signal: AbortSignal,
    poll: (changed: () => Promise<void>) => Promise<Result>,
  ): Promise<Result> {
    await this.#listen();
    const woken = new AbortController();
    const polls = this.#polls.get(userId) ?? new Set();
    this.#polls.set(userId, polls.add(woken));
    const [oldest] = polls;
    if (polls.size > maximumPollsPerUser) oldest?.abort();
    const either = AbortSignal.any([woken.signal, signal]);
    try {
      return await poll(async () => {
        if (!either.aborted) await once(either, 'abort');
      });
    } finally {
      polls.delete(woken);
      if (polls.size === 0) this.#polls.delete(userId);
    }
  }

  async close(): Promise<void> {
    const stop = await this.#listening;
    stop?.();
  }

  async #listen(): Promise<void> {
    this.#listening ??= this.#signals.listen(channel, (userId) => this.#wake(userId));
    try {
      await this.#listening;
    } catch (error) {
      // Forget the failed attempt, so that the next poll tries again.
      this.#listening = undefined;
      throw error;
    }
  }

  /** Wakes a user's polls. Without `userId` (signals may have been lost), wakes all polls. */
  #wake(userId: string | undefined): void {
    const woken =
      userId === undefined ? [...this.#polls.values()] : [this.#polls.get(Number(userId) as UserId) ?? []];
    for (const polls of woken) for (const poll of polls) poll.abort();
  }
}
