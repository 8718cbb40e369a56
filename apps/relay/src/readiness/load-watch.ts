import { tokenKinds } from '@waxwing/protocol';
import type { ReadinessWarning } from '@waxwing/service/http';
import { answerWithin, type Clock } from '@waxwing/service/lifecycle';
import type { Vendor } from '../deliveries/delivery.js';
import type { PushServiceCounts } from '../deliveries/vendors/vendor-sender.js';
import type { ServerQuotas } from '../servers/server-quotas.js';
import type { RecentDeliveries } from './recent-deliveries.js';

/** Names of load problems, in the order that the dashboard shows. */
export const loadProblems = [
  'quotas',
  'refusals',
  'queue',
  'latency',
  'rejections',
  'push services',
  'write-ahead log',
] as const;

/**
 * A load problem in the last few minutes. `cause` contains no changing numbers, so that the problem is logged only
 * once.
 */
export interface LoadProblem {
  readonly name: (typeof loadProblems)[number];
  readonly cause: string;
  readonly remedy: string;
}

export interface LoadWatchOptions {
  readonly clock: Clock;
  /** Monotonic clock in milliseconds. */
  readonly monotonic: Clock;
  readonly quotas: Pick<ServerQuotas, 'busiest'>;
  readonly deliveries: Pick<RecentDeliveries, 'of'>;
  pushServices(): PushServiceCounts;
  /** Number of refused requests since the process started, by reason. */
  refusals(): Promise<ReadonlyMap<string, number>>;
  /** Due time of the oldest due job, in Unix milliseconds. May reject while the database is unavailable. */
  oldestDueAt(): Promise<number | undefined>;
  /** Size of SQLite's write-ahead log in bytes. */
  logBytes(): number | undefined;
}

const minuteMilliseconds = 60_000;
const patienceMilliseconds = 1000;
const usedUpRatio = 0.95;
const namedServers = 3;
const refusalsPerMinute = 60;
const lateMilliseconds = 10 * minuteMilliseconds;
const fewestDeliveries = 20;
const fewestRejections = 60;
const largeLogBytes = 100e6;
const fewestHeldBack = 5;
const vendorNames: Readonly<Record<Vendor, string>> = { fcm: 'FCM', apns: 'APNs', webpush: 'Web Push' };

/** Checks once a minute for overload and its symptoms. Reads counters in memory and one indexed row. */
export class LoadWatch {
  readonly #options: LoadWatchOptions;
  #refusals: ReadonlyMap<string, number> = new Map();
  /** Monotonic milliseconds. */
  #lookedAt: number;
  #problems: readonly LoadProblem[] = [];
  #looking: Promise<void> = Promise.resolve();

  constructor(options: LoadWatchOptions) {
    this.#options = options;
    this.#lookedAt = options.monotonic();
  }

  /** The problems that the last check found. */
  get problems(): readonly LoadProblem[] {
    return this.#problems;
  }

  /** Readiness check: returns a warning that names all problems. Looks for problems at most once a minute. */
  async look(): Promise<ReadinessWarning | undefined> {
    const now = this.#options.monotonic();
    const passed = now - this.#lookedAt;
    if (passed >= minuteMilliseconds) {
      this.#lookedAt = now;
      this.#looking = this.#lookAgain(passed / minuteMilliseconds);
    }
    await this.#looking;
    if (this.#problems.length === 0) return undefined;
    return { warning: this.#problems.map(({ cause }) => cause).join(' ') };
  }

  async #lookAgain(minutes: number): Promise<void> {
    const { logBytes } = this.#options;
    const found = [
      this.#findUsedQuotas(),
      await this.#findRefusals(minutes),
      await this.#findLateJobs(),
      ...tokenKinds.map((vendor) => this.#findSlowness(vendor)),
      ...tokenKinds.map((vendor) => this.#findRejections(vendor)),
      this.#findHeldBack(),
      (logBytes() ?? 0) > largeLogBytes ? largeLog : undefined,
    ];
    this.#problems = found.filter((problem) => problem !== undefined);
  }

  #findUsedQuotas(): LoadProblem | undefined {
    const { quotas } = this.#options;
    const servers = quotas.busiest(namedServers).filter(({ ratio }) => ratio >= usedUpRatio);
    if (servers.length === 0) return undefined;
    const names = servers.map(({ serverId }) => serverId).sort();
    return {
      name: 'quotas',
      cause: `The quota is used up, and notifications are refused: server ${names.join(', ')}.`,
      remedy: 'Look at the server on the page "Servers", and suspend it if it sends too much.',
    };
  }

  async #findRefusals(minutes: number): Promise<LoadProblem | undefined> {
    const before = this.#refusals;
    this.#refusals = await this.#options.refusals();
    const many = [...this.#refusals].filter(
      ([reason, total]) => total - (before.get(reason) ?? 0) > refusalsPerMinute * minutes,
    );
    if (many.length === 0) return undefined;
    const reasons = many.map(([reason]) => reason).sort();
    return {
      name: 'refusals',
      cause: `More than one request a second is refused because of a limit: ${reasons.join(', ')}.`,
      remedy: 'Find the client in the log. If all clients are yours, add a relay process or raise the limit.',
    };
  }

  async #findLateJobs(): Promise<LoadProblem | undefined> {
    const { clock, oldestDueAt } = this.#options;
    // A failed read is not a load problem: readiness has its own check of the database.
    const reading = oldestDueAt().catch(() => undefined);
    const dueAt = await answerWithin(patienceMilliseconds, reading, undefined);
    if (dueAt === undefined || clock() - dueAt < lateMilliseconds) return undefined;
    return {
      name: 'queue',
      cause: 'Jobs have been due for more than ten minutes.',
      remedy:
        'Look for a slow database. If it is fast, restart the relay, and add a process if the queue still grows.',
    };
  }

  #findSlowness(vendor: Vendor): LoadProblem | undefined {
    const { delivered, slow } = this.#options.deliveries.of(vendor);
    if (delivered < fewestDeliveries || slow * 20 <= delivered) return undefined;
    return {
      name: 'latency',
      cause: `One in twenty notifications to ${vendorNames[vendor]} takes more than ten seconds.`,
      remedy: "Look at the vendor's status page, at the queue, and at the network of this machine.",
    };
  }

  #findRejections(vendor: Vendor): LoadProblem | undefined {
    const { delivered, rejected } = this.#options.deliveries.of(vendor);
    if (rejected < fewestRejections || rejected * 5 <= delivered + rejected) return undefined;
    return {
      name: 'rejections',
      cause: `More than a fifth of the notifications to ${vendorNames[vendor]} are rejected.`,
      remedy: 'Look for the reason in the log, and for its meaning in docs/deliveries.md.',
    };
  }

  #findHeldBack(): LoadProblem | undefined {
    const { answering, held_back: held } = this.#options.pushServices();
    return held >= fewestHeldBack && held > answering ? heldBack : undefined;
  }
}

const heldBack: LoadProblem = {
  name: 'push services',
  cause: 'Most Web Push services have stopped answering, and their notifications are paused.',
  remedy: 'Check the outgoing connections of this machine: its network, name servers and proxy.',
};

const largeLog: LoadProblem = {
  name: 'write-ahead log',
  cause: 'The write-ahead log of the database has passed 100 MB, and writes stop at 128 MiB.',
  remedy: 'Stop long reads of the database, such as a backup or an open transaction in sqlite3.',
};
