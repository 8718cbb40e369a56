import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { AppRoute } from '../apps/app-registry.js';
import type { AppTrouble } from '../apps/app-trouble.js';
import type { Vendor } from '../delivery.js';

export interface VendorOutagesOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the outage when it is reported, and with `undefined` when it ends or is forgotten. */
  onChange(app: string, outage: AppTrouble | undefined): void;
}

interface Outage {
  readonly vendor: Vendor;
  readonly credential: string;
  readonly since: number;
  lastAt: number;
  reason: string;
  isReported: boolean;
}

// Shorter failures are normal: vendors restart servers and limit bursts.
const reportAfterMilliseconds = 60_000;
// After this time without an attempt, the vendor's state is unknown.
const forgetAfterMilliseconds = 30 * 60_000;
const statusPages: Readonly<Record<Vendor, string>> = {
  fcm: 'https://status.firebase.google.com',
  apns: 'https://developer.apple.com/system-status/',
  webpush: "the page of the phone's push service",
};

/**
 * Detects vendor outages. An outage is a period of at least one minute in which a vendor accepts none of an app's
 * notifications, because it does not answer, fails, or throttles the whole app. Logs the start and end of each outage.
 */
export class VendorOutages {
  readonly #options: VendorOutagesOptions;
  readonly #outages = new Map<string, Outage>();
  /** When each credential last worked, in Unix milliseconds. */
  readonly #workedAt = new Map<string, number>();

  constructor(options: VendorOutagesOptions) {
    this.#options = options;
  }

  /** Records a temporary failure: the vendor did not accept one of the app's notifications, but may accept it later. */
  failed({ appId: app, vendor, credential }: AppRoute, reason: string): void {
    const now = this.#options.clock();
    this.#forgetIfOld(app, now);
    const known = this.#outages.get(app);
    const outage = known ?? { vendor, credential, since: now, lastAt: now, reason, isReported: false };
    Object.assign(outage, { lastAt: now, reason });
    this.#outages.set(app, outage);
    if (now - outage.since >= reportAfterMilliseconds) this.#report(app, outage);
  }

  /**
   * Reports outages of a minute or more, and forgets old outages. Must be called periodically: with little traffic, the
   * next attempt can be 15 minutes away. Does not report a single failure, because the retry usually succeeds.
   */
  review(): void {
    this.forgetOld();
    for (const [app, outage] of this.#outages) {
      if (outage.lastAt > outage.since && this.isFailing(app)) this.#report(app, outage);
    }
  }

  #report(app: string, outage: Outage): void {
    if (outage.isReported) return;
    outage.isReported = true;
    this.#options.onChange(app, troubleOf(app, outage));
    const { reason } = outage;
    const since = new Date(outage.since).toISOString();
    this.#options.log.warn(
      { app, reason, since },
      `${describe(app, outage)}; its notifications are stored and retried`,
    );
  }

  /** Records that the vendor accepted the app's credential and processed a notification. */
  worked({ appId: app, credential }: AppRoute): void {
    this.#workedAt.set(credential, this.#options.clock());
    const outage = this.#outages.get(app);
    if (outage === undefined) return;
    this.#outages.delete(app);
    if (!outage.isReported) return;
    this.#options.onChange(app, undefined);
    this.#options.log.info({ app }, `the vendor accepts notifications of ${app} again`);
  }

  /** Whether the vendor accepted this credential after `instant` (Unix milliseconds). */
  hasWorkedSince(credential: string, instant: number): boolean {
    return (this.#workedAt.get(credential) ?? Number.NEGATIVE_INFINITY) > instant;
  }

  /** When the vendor last accepted this credential, in Unix milliseconds; `undefined` if never. */
  lastWorkedAt(credential: string): number | undefined {
    return this.#workedAt.get(credential);
  }

  /** Describes an app's outage of a minute or more in a sentence; `undefined` if the app has no such outage. */
  describe(app: string): string | undefined {
    const outage = this.isFailing(app) ? this.#outages.get(app) : undefined;
    return outage && describe(app, outage);
  }

  /** Forgets outages without a recent attempt. */
  forgetOld(): void {
    const now = this.#options.clock();
    for (const app of this.#outages.keys()) this.#forgetIfOld(app, now);
  }

  /** Whether an app has an outage of a minute or more. */
  isFailing(app: string): boolean {
    const now = this.#options.clock();
    this.#forgetIfOld(app, now);
    return now - (this.#outages.get(app)?.since ?? now) >= reportAfterMilliseconds;
  }

  /** Returns all outages of a minute or more, after forgetting old outages. */
  troubles(): AppTrouble[] {
    this.forgetOld();
    return [...this.#outages]
      .filter(([app]) => this.isFailing(app))
      .map(([app, outage]) => troubleOf(app, outage));
  }

  #forgetIfOld(app: string, now: number): void {
    const outage = this.#outages.get(app);
    if (outage === undefined || now - outage.lastAt < forgetAfterMilliseconds) return;
    this.#outages.delete(app);
    if (outage.isReported) this.#options.onChange(app, undefined);
  }
}

function troubleOf(app: string, outage: Outage): AppTrouble {
  const { credential, since } = outage;
  return { credential, since, sentence: describe(app, outage) };
}

function describe(app: string, { vendor, since, reason }: Outage): string {
  return `the vendor has accepted no notification of ${app} since ${new Date(since).toISOString()} (${reason}): see ${statusPages[vendor]}`;
}
