import type { Mutant } from './mutants.js';

/** An equivalent mutant, which no test can detect because the program behaves the same, with the reason. */
export interface Equivalent {
  readonly file: string;
  /** The change, in the form that `npm run mutate` prints. */
  readonly change: string;
  /** A part of the line, if several lines have the same change. */
  readonly where?: string;
  readonly reason: string;
}

/** Whether the entry describes this mutant's change. */
export function isChange({ change, where = '' }: Equivalent, mutant: Mutant): boolean {
  return mutant.change === change && mutant.source.includes(where);
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'packages/service/src/http/bodies/received-body.ts',
    change: "headers['content-length'] ?? 0 -> headers['content-length']",
    reason: 'what is no number is within no limit, and a body that is not is expected to take 0 bytes',
  },
  {
    file: 'packages/service/src/http/bodies/multipart-form.ts',
    change: 'parser.destroy(); -> nothing',
    where: '        parser.destroy();',
    reason: 'what is left of a form that was refused is parsed for nothing, which only takes time',
  },
  {
    file: 'packages/service/src/http/bodies/multipart-form.ts',
    change: 'start < body.length && !parser.destroyed -> start < body.length',
    reason: 'a parser that has ended drops what it is given, which only takes time',
  },
  {
    file: 'packages/protocol/src/verify-key-list.ts',
    change: 'false -> true',
    reason: 'before the first key of a chain there is none that could endorse it',
  },
  {
    file: 'packages/service/src/http/bodies/multipart-form.ts',
    change: 'start < body.length -> start <= body.length',
    reason: 'a last piece of no bytes says nothing to the parser',
  },
  {
    file: 'packages/service/src/http/overload/in-flight-caps.ts',
    change: 'this.#actors.size >= this.#evictAtSize -> this.#actors.size > this.#evictAtSize',
    reason: 'one more is kept before those without a request are forgotten, which only takes memory',
  },
  {
    file: 'packages/service/src/http/overload/concurrency-limiter.ts',
    change: 'this.#unauthenticated.count + this.#admitted.count < limits.minimum… -> false',
    reason: 'so few have room in any case, which is only found out later',
  },
  {
    file: 'packages/service/src/http/overload/concurrency-limiter.ts',
    change: 'false -> true',
    where: '< limits.minimumBacklog) return false',
    reason: 'so few have room in any case, which is only found out later',
  },
  {
    file: 'packages/service/src/http/overload/watch-event-loop.ts',
    change:
      'performance.eventLoopUtilization(since).utilization > busyUtilization -> performance.eventLoopUtilization(since).utilization >= busyUtilization',
    reason: 'the share is measured, and never nine tenths to the last digit',
  },
  {
    file: 'packages/service/src/http/connections/connection.ts',
    change: 'now - openedAt >= surplusMilliseconds -> now - openedAt > surplusMilliseconds',
    reason: 'the clock counts parts of a millisecond, and no test reads it at one certain instant',
  },
  {
    file: 'apps/relay/src/registrations/write/registration-sequences.ts',
    change: 'accounts.length === 0 -> false',
    reason: 'the database is asked about no account and answers none, which costs a statement more',
  },
  {
    file: 'apps/relay/src/servers/server-directory.ts',
    change: '!isFresh && this.#proven.get(proof) -> false',
    reason: 'the database answers the same, only more often',
  },
  {
    file: 'apps/server/src/platform/event-queues/event-queue-store.ts',
    change: 'queue.eventTypes === undefined -> false',
    reason: 'JSON.stringify makes undefined of it then, which the database takes for null',
  },
  {
    file: 'apps/relay/src/keyring/storage/age-file.ts',
    change: 'lastLine < 0 -> false',
    reason:
      'without its last line the header is taken to be its first one, which the library refuses as well',
  },
  {
    file: 'apps/relay/src/keyring/storage/age-file.ts',
    change: 'key.fill(0); -> nothing',
    reason: 'the key opens one file alone and is left for the collector; only a look at memory tells it',
  },
  {
    file: 'apps/server/src/platform/authentication/password-hash.ts',
    change:
      "timingSafeEqual(given, Buffer.from(hash, 'base64')) && stored !== u… -> timingSafeEqual(given, Buffer.from(hash, 'base64'))",
    reason: 'nobody knows a password whose hash is all zeros, which stands for that of nobody',
  },
  ...['true', 'lockouts >= 0'].map((by) => ({
    file: 'apps/server/src/platform/authentication/plan-sign-in-try.ts',
    change: `lockouts > 0 -> ${by}`,
    reason: 'a name that was never locked is locked until 1970, and a day later is long ago as well',
  })),
  {
    file: 'apps/server/src/conversations/messages/removal/losses.ts',
    change: 'userIds.length === 0 -> false',
    reason: 'the database is asked about nobody and answers nothing, which costs a statement more',
  },
  {
    file: 'apps/server/src/conversations/messages/removal/losses.ts',
    change: 'start < messageIds.length -> start <= messageIds.length',
    reason: 'a last piece of no messages loses nobody anything, which costs a statement more',
  },
  {
    file: 'packages/service/src/http/connections/client-addresses.ts',
    change:
      "!trustedProxies.isEmpty && trustedProxies.has(socket.remoteAddress … -> trustedProxies.has(socket.remoteAddress ?? '')",
    reason: 'where no proxy is named none has that address, which is only found out later',
  },
  {
    file: 'apps/relay/src/registrations/opening/registration-batches.ts',
    change: 'opened.length === 0 -> false',
    reason: 'nothing is kept then in a commit of its own, which nobody is answered for',
  },
];
