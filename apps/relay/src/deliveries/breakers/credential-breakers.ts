import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { AppRoute } from '../apps/app-registry.js';
import type { AppTrouble } from '../apps/app-trouble.js';
import type { BreakerStore } from './breaker-store.js';
import { CredentialSuspicions, type SuspectDevice } from './credential-suspicions.js';

export interface CredentialBreakersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: BreakerStore;
  readonly probeMilliseconds: number;
  /** Reloads the credentials before a probe, because the operator may have fixed the file. */
  reload(): Promise<void>;
  /** Called when an app's breaker opens or closes. */
  onChange(appId: string, isOpen: boolean): void;
}

/** Decision on whether an app's notification may be sent now. */
export type Admission =
  | { readonly kind: 'go' }
  /** This notification probes whether the credential works again. The caller must report the result. */
  | { readonly kind: 'probe' }
  | { readonly kind: 'held'; readonly until: number; readonly reason: string };

interface OpenBreaker {
  /** Whether the vendor blamed the credential explicitly. Phones cannot cause such a response. */
  isCertain: boolean;
  reason: string;
  credential: string;
  readonly openedAt: number;
  probeAt: number;
  /** Id of the device that the probe in flight addresses; `undefined` if no probe is in flight. */
  probing: number | undefined;
  /** Number of notifications postponed until after the next probe. */
  held: number;
}

interface Refusal {
  readonly reason: string;
  readonly isCertain: boolean;
  /** Unix milliseconds. */
  readonly notBefore: number;
}

// Interval between paused notifications when they resume: the vendor has only just accepted the credential again.
const suspensionMilliseconds = 2;
const maximumSpreadMilliseconds = 10 * 60_000;
const go: Admission = { kind: 'go' };

/**
 * Circuit breaker per app credential. While the vendor refuses the credential, pauses the app's notifications, except
 * for one probe per `probeMilliseconds`. Closes when the vendor accepts a probe, or rejects it for a reason other than
 * the credential. A refused credential never counts against tokens.
 */
export class CredentialBreakers {
  readonly #options: CredentialBreakersOptions;
  readonly #open = new Map<string, OpenBreaker>();
  /** Apps that recovered but whose stored breaker could not be deleted. */
  readonly #unremoved = new Set<string>();
  readonly #suspicions: CredentialSuspicions;

  constructor(options: CredentialBreakersOptions) {
    this.#options = options;
    this.#suspicions = new CredentialSuspicions(options.clock);
  }

  admit(appId: string, device: SuspectDevice): Admission {
    const breaker = this.#open.get(appId);
    if (breaker === undefined) {
      this.#suspicions.noteUse(appId, device.realmId);
      return go;
    }
    const { clock, probeMilliseconds } = this.#options;
    const now = clock();
    const probeAt = this.#mayProveOtherwise(appId, device, breaker)
      ? now
      : // A suspect device waits longer: its refusal would prove nothing, so another device should probe first.
        breaker.probeAt + (this.#suspicions.isSuspect(appId, device) ? probeMilliseconds : 0);
    if (now >= probeAt && breaker.probing === undefined) {
      breaker.probing = device.id;
      return { kind: 'probe' };
    }
    const probed = breaker.probing === undefined ? probeAt : now + probeMilliseconds / 10;
    const until = Math.ceil(
      probed + Math.min(breaker.held * suspensionMilliseconds, maximumSpreadMilliseconds),
    );
    breaker.held += 1;
    return { kind: 'held', until, reason: breaker.reason };
  }

  /**
   * Whether a device may probe immediately to refute a suspicion. Devices of a suspect realm may not, because the
   * realm's owners could use up the probes of other realms.
   */
  #mayProveOtherwise(appId: string, device: SuspectDevice, { isCertain }: OpenBreaker): boolean {
    if (isCertain || this.#suspicions.isSuspect(appId, device)) return false;
    return !this.#suspicions.isRealmSuspect(appId, device);
  }

  /** The state of an app's breaker: half-open while a probe is in flight. `reason` is the vendor's last refusal. */
  stateOf(appId: string): { readonly state: 'closed' | 'open' | 'half-open'; readonly reason?: string } {
    const breaker = this.#open.get(appId);
    if (breaker === undefined) return { state: 'closed' };
    const { credential, reason } = breaker;
    const state = breaker.probing === undefined ? 'open' : 'half-open';
    return { state, reason: `${credential} was refused with ${reason}` };
  }

  isOpen(appId: string): boolean {
    return this.#open.has(appId);
  }

  /** Whether the vendor certainly refused the app's credential. Suspicions do not count: phones can cause them. */
  isRefused(appId: string): boolean {
    return this.#open.get(appId)?.isCertain === true;
  }

  /** First step of a probe: reloads the credentials, because an operator may have fixed them. */
  prepareProbe(): Promise<void> {
    return this.#options.reload();
  }

  /**
   * Handles a response that blames the credential but may be this device's fault. Resolves to the time of the next
   * attempt, or to `undefined` if the breaker stays closed. The caller then decides what to do with this notification.
   */
  suspected(route: AppRoute, device: SuspectDevice, reason: string): Promise<number | undefined> {
    const { appId, credential } = route;
    const { clock, log, probeMilliseconds } = this.#options;
    const known = this.#open.get(appId);
    const suspicion = { reason, isCertain: false } as const;
    const isFirst = !this.#suspicions.isUnderSuspicion(appId) && !this.#suspicions.isSuspect(appId, device);
    const isEnough = this.#suspicions.suspect(appId, device);
    if (known !== undefined) {
      if (known.probing === device.id) return this.#hold(route, { ...suspicion, notBefore: 0 });
      return Promise.resolve(Math.ceil(Math.max(known.probeAt, clock()) + probeMilliseconds));
    }
    if (isFirst) {
      log.warn(
        { app: appId, device: device.id, reason },
        `${credential} may have been refused, for one phone`,
      );
    }
    if (!isEnough) return Promise.resolve(undefined);
    const refusing = this.#hold(route, { ...suspicion, notBefore: 0 });
    const opened = this.#open.get(appId);
    // A notification for any other phone may probe immediately.
    if (opened !== undefined) opened.probeAt = clock();
    return refusing;
  }

  /** Opens the breaker because the vendor refused the credential. Resolves to the time of the next attempt. */
  refused(route: AppRoute, reason: string, notBefore: number): Promise<number> {
    return this.#hold(route, { reason, isCertain: true, notBefore });
  }

  async #hold({ appId, credential }: AppRoute, { reason, isCertain, notBefore }: Refusal): Promise<number> {
    const { clock, probeMilliseconds } = this.#options;
    const now = clock();
    const probeAt = Math.ceil(Math.max(now + probeMilliseconds, notBefore));
    const known = this.#open.get(appId);
    if (known === undefined) {
      const opened = { reason, credential, openedAt: now };
      this.#open.set(appId, { ...opened, isCertain, probeAt, probing: undefined, held: 0 });
      this.#options.onChange(appId, true);
      this.#logRefusal(appId, { reason, credential });
      await this.#store(appId, opened);
      return probeAt;
    }
    const wasProbe = known.probing !== undefined;
    const hasChanged = known.reason !== reason || known.credential !== credential;
    known.probeAt = Math.max(known.probeAt, probeAt);
    known.probing = undefined;
    known.held = 0;
    known.isCertain ||= isCertain;
    Object.assign(known, { reason, credential });
    if (hasChanged) this.#logRefusal(appId, known);
    // Stored again after each probe: another process may have deleted the row when it started or after a success.
    if (hasChanged || wasProbe) await this.#store(appId, known);
    return known.probeAt;
  }

  /** Closes the breaker. The vendor's response was about the notification itself, so the credential works. */
  async worked(appId: string): Promise<void> {
    const { store, log, onChange } = this.#options;
    this.#suspicions.excuse(appId);
    const breaker = this.#open.get(appId);
    if (breaker === undefined && !this.#unremoved.delete(appId)) return;
    if (breaker !== undefined) {
      this.#open.delete(appId);
      onChange(appId, false);
      log.info({ app: appId }, `${breaker.credential} works again`);
    }
    try {
      await store.close(appId, 'credential');
    } catch (err) {
      // Not rethrown: the notification was sent, and the next success retries the delete.
      this.#unremoved.add(appId);
      log.warn({ app: appId, err }, '"apps status" still shows a credential that works again');
    }
  }

  /** Whether the caller must call {@link worked} when one of this app's notifications was sent. */
  awaitsSuccess(appId: string): boolean {
    if (this.#open.has(appId) || this.#unremoved.has(appId)) return true;
    return this.#suspicions.isUnderSuspicion(appId);
  }

  /**
   * Last step of a probe. If the probe was inconclusive (no answer or a busy vendor), schedules the next probe one
   * interval later.
   */
  endProbe(appId: string): void {
    const breaker = this.#open.get(appId);
    if (breaker?.probing === undefined) return;
    breaker.probing = undefined;
    breaker.probeAt = this.#options.clock() + this.#options.probeMilliseconds;
    breaker.held = 0;
  }

  #logRefusal(app: string, { reason, credential }: Pick<OpenBreaker, 'reason' | 'credential'>): void {
    this.#options.log.error(
      { app, reason },
      `${credential} was refused: its notifications are paused until the credential works`,
    );
  }

  async #store(
    app: string,
    { reason, credential, openedAt }: Pick<OpenBreaker, 'reason' | 'credential' | 'openedAt'>,
  ): Promise<void> {
    const sentence = `${credential} was refused: ${reason}`;
    await this.#options.store.open({ app, kind: 'credential', reason: sentence, at: openedAt });
  }

  /**
   * Lists the apps whose credential a vendor certainly refused. Suspicions do not count, because phones can cause them
   * and other apps still work.
   */
  troubles(): AppTrouble[] {
    return [...this.#open]
      .filter(([, { isCertain }]) => isCertain)
      .map(([appId, { credential, reason, openedAt }]) => ({
        credential,
        since: openedAt,
        sentence: `${credential} was refused for ${appId} with ${reason}: run waxwing-relay apps check, which says how to fix it`,
      }));
  }
}
