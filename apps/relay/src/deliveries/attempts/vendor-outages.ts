import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { Vendor } from '../delivery.js';

export interface VendorOutagesOptions {
  readonly clock: Clock;
  readonly log: Log;
}

interface Outage {
  readonly vendor: Vendor;
  readonly since: number;
  lastAt: number;
  reason: string;
  isReported: boolean;
}

// Shorter failures are normal: vendors restart servers and limit bursts.
const reportAfterMilliseconds = 60_000;
// Without any attempt for so long, it is not known whether the vendor still fails.
const forgetAfterMilliseconds = 30 * 60_000;
const statusPages: Readonly<Record<Vendor, string>> = {
  fcm: 'https://status.firebase.google.com',
  apns: 'https://developer.apple.com/system-status/',
};

/**
 * Notices apps none of whose notifications the vendor has taken for a minute, because it does not answer, fails or limits
 * the app as a whole. Logs the begin and the end of such an outage.
 */
export class VendorOutages {
  readonly #options: VendorOutagesOptions;
  readonly #outages = new Map<string, Outage>();

  constructor(options: VendorOutagesOptions) {
    this.#options = options;
  }

  /** The vendor did not take a notification of this app, and may take it later. */
  failed(app: string, vendor: Vendor, reason: string): void {
    const now = this.#options.clock();
    const known = this.#outages.get(app);
    const isNew = known === undefined || now - known.lastAt >= forgetAfterMilliseconds;
    const outage = isNew ? { vendor, since: now, lastAt: now, reason, isReported: false } : known;
    Object.assign(outage, { lastAt: now, reason });
    this.#outages.set(app, outage);
    if (outage.isReported || now - outage.since < reportAfterMilliseconds) return;
    outage.isReported = true;
    const since = new Date(outage.since).toISOString();
    this.#options.log.warn(
      { app, reason, since },
      `${describe(app, outage)}; they are stored and tried again`,
    );
  }

  /** The vendor judged a notification of this app. */
  worked(app: string): void {
    const outage = this.#outages.get(app);
    if (outage === undefined) return;
    this.#outages.delete(app);
    if (outage.isReported) this.#options.log.info({ app }, `the vendor takes notifications of ${app} again`);
  }

  /** Readiness: one sentence for all outages of a minute or more; `undefined` if there is none. */
  describe(): string | undefined {
    const now = this.#options.clock();
    const current = [...this.#outages].filter(
      ([, { since, lastAt }]) =>
        now - since >= reportAfterMilliseconds && now - lastAt < forgetAfterMilliseconds,
    );
    if (current.length === 0) return undefined;
    return current.map(([app, outage]) => describe(app, outage)).join('; ');
  }
}

function describe(app: string, { vendor, since, reason }: Outage): string {
  return `the vendor has taken no notification of ${app} since ${new Date(since).toISOString()} (${reason}): see ${statusPages[vendor]}`;
}
