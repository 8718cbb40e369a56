import type { Mutant } from './mutants.js';

/** An equivalent mutant. No test can detect it, because the program behaves the same, for the given reason. */
export interface Equivalent {
  readonly file: string;
  /** The change, in the format that `npm run mutate` prints. */
  readonly change: string;
  /** A part of the source line, to distinguish lines with the same change. */
  readonly where?: string;
  readonly reason: string;
}

/** Whether the entry describes this mutant. */
export function isChange({ change, where = '' }: Equivalent, mutant: Mutant): boolean {
  return mutant.change === change && mutant.source.includes(where);
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'packages/service/src/http/bodies/received-body.ts',
    change: "headers['content-length'] ?? 0 -> headers['content-length']",
    reason: 'without the header, the length is NaN, which is not within the limit, so the result is still 0',
  },
  {
    file: 'packages/service/src/http/bodies/multipart-form.ts',
    change: 'parser.destroy(); -> nothing',
    where: '        parser.destroy();',
    reason: 'the rest of a rejected form is parsed and ignored, which only takes time',
  },
  {
    file: 'packages/service/src/http/bodies/multipart-form.ts',
    change: 'start < body.length && !parser.destroyed -> start < body.length',
    reason: 'a destroyed parser ignores further input, which only takes time',
  },
  {
    file: 'packages/protocol/src/verify-key-list.ts',
    change: 'false -> true',
    reason: 'the first key of a chain has no previous key that could endorse it',
  },
  {
    file: 'packages/service/src/http/bodies/multipart-form.ts',
    change: 'start < body.length -> start <= body.length',
    reason: 'the parser ignores an empty last chunk',
  },
  {
    file: 'packages/service/src/http/overload/in-flight-caps.ts',
    change: 'this.#actors.size >= this.#evictAtSize -> this.#actors.size > this.#evictAtSize',
    reason: 'one more actor is stored before idle actors are evicted, which only takes memory',
  },
  {
    file: 'packages/service/src/http/overload/concurrency-limiter.ts',
    change: 'this.#unauthenticated.count + this.#admitted.count < limits.minimum… -> false',
    reason: 'so few requests are always admitted by a later check',
  },
  {
    file: 'packages/service/src/http/overload/concurrency-limiter.ts',
    change: 'false -> true',
    where: '< limits.minimumBacklog) return false',
    reason: 'so few requests are always admitted by a later check',
  },
  {
    file: 'packages/service/src/http/overload/watch-event-loop.ts',
    change:
      'performance.eventLoopUtilization(since).utilization > busyUtilization -> performance.eventLoopUtilization(since).utilization >= busyUtilization',
    reason: 'a measured utilization is never exactly equal to the threshold',
  },
  {
    file: 'packages/service/src/http/connections/connection.ts',
    change: 'now - openedAt >= surplusMilliseconds -> now - openedAt > surplusMilliseconds',
    reason: 'the clock has a resolution below one millisecond, so the two are practically never equal',
  },
  {
    file: 'apps/relay/src/registrations/write/registration-sequences.ts',
    change: 'accounts.length === 0 -> false',
    reason: 'a query for no account returns no row, which only costs a statement',
  },
  {
    file: 'apps/relay/src/servers/server-directory.ts',
    change: '!isFresh && this.#proven.get(proof) -> false',
    reason: 'the database returns the same result, but is queried more often',
  },
  {
    file: 'apps/server/src/platform/event-queues/event-queue-store.ts',
    change: 'queue.eventTypes === undefined -> false',
    reason: 'JSON.stringify returns undefined, which the database stores as null',
  },
  {
    file: 'apps/relay/src/keyring/storage/age-file.ts',
    change: 'lastLine < 0 -> false',
    reason:
      'without the last line, only the first line is read as the header, which the library also rejects',
  },
  {
    file: 'apps/relay/src/keyring/storage/age-file.ts',
    change: 'key.fill(0); -> nothing',
    reason:
      'the key opens only one file and is garbage-collected; only an inspection of memory can reveal it',
  },
  {
    file: 'apps/server/src/platform/authentication/password-hash.ts',
    change:
      "timingSafeEqual(given, Buffer.from(hash, 'base64')) && stored !== u… -> timingSafeEqual(given, Buffer.from(hash, 'base64'))",
    reason: 'no known password has the dummy hash of all zeros that stands for an unknown user',
  },
  ...['true', 'lockouts >= 0'].map((by) => ({
    file: 'apps/server/src/platform/authentication/plan-sign-in-try.ts',
    change: `lockouts > 0 -> ${by}`,
    reason: 'for a name that was never locked, lockedUntil is 1970, and a day later is in the past as well',
  })),
  {
    file: 'apps/server/src/conversations/messages/removal/losses.ts',
    change: 'userIds.length === 0 -> false',
    reason: 'a query for no user returns no row, which only costs a statement',
  },
  {
    file: 'apps/server/src/conversations/messages/removal/losses.ts',
    change: 'start < messageIds.length -> start <= messageIds.length',
    reason: 'an empty last chunk changes nothing, which only costs a statement',
  },
  {
    file: 'packages/service/src/http/connections/client-addresses.ts',
    change:
      "!trustedProxies.isEmpty && trustedProxies.has(socket.remoteAddress … -> trustedProxies.has(socket.remoteAddress ?? '')",
    reason: 'the empty set contains no address, so the lookup returns the same result',
  },
  {
    file: 'apps/relay/src/registrations/opening/registration-batches.ts',
    change: 'opened.length === 0 -> false',
    reason: 'an empty batch only costs a commit, and no caller waits for it',
  },
];
