import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { AppRoute } from '../apps/app-registry.js';
import type { BreakerStore } from './breaker-store.js';
import { CredentialSuspicions, type SuspectDevice } from './credential-suspicions.js';

export interface CredentialBreakersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: BreakerStore;
  readonly probeMilliseconds: number;
  /** Called before a probe: whoever mended a credential did so in a file. */
  reload(): Promise<void>;
  /** Told of each change. */
  onChange(appId: string, isOpen: boolean): void;
}

/** Whether an app's notifications may be sent now. */
export type Admission =
  | { readonly kind: 'go' }
  /** This one finds out whether the credential works again; the caller must tell how it went. */
  | { readonly kind: 'probe' }
  | { readonly kind: 'held'; readonly until: number; readonly reason: string };

interface OpenBreaker {
  /** Whether the vendor named the credential itself, which no phone can bring about. */
  isCertain: boolean;
  reason: string;
  credential: string;
  readonly openedAt: number;
  probeAt: number;
  /** The RelayDevice whose notification finds out whether the credential works again. */
  probing: number | undefined;
  /** Notifications told to come back after the next probe. */
  held: number;
}

interface Refusal {
  readonly reason: string;
  readonly isCertain: boolean;
  /** Unix milliseconds. */
  readonly notBefore: number;
}

// A held queue comes back as a stream, not as a wave: the vendor has just begun to take the credential again.
const heldApartMilliseconds = 2;
const maximumSpreadMilliseconds = 10 * 60_000;
const go: Admission = { kind: 'go' };

/**
 * Holds back an app's notifications while the vendor refuses its credential: one is let through each minute, and when
 * the vendor judges it on its merits, the others follow. Tokens are never blamed for a refused credential.
 */
export class CredentialBreakers {
  readonly #options: CredentialBreakersOptions;
  readonly #open = new Map<string, OpenBreaker>();
  /** Apps that work again and whose stored row could not be removed. */
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
      : // What may be refused for its own fault proves nothing while another one can be asked.
        breaker.probeAt + (this.#suspicions.isSuspect(appId, device) ? probeMilliseconds : 0);
    if (now >= probeAt && breaker.probing === undefined) {
      breaker.probing = device.id;
      return { kind: 'probe' };
    }
    const probed = breaker.probing === undefined ? probeAt : now + probeMilliseconds / 10;
    const until = Math.ceil(
      probed + Math.min(breaker.held * heldApartMilliseconds, maximumSpreadMilliseconds),
    );
    breaker.held += 1;
    return { kind: 'held', until, reason: breaker.reason };
  }

  /** One realm's phones, which their owners choose, do not use up the probes of another's. */
  #mayProveOtherwise(appId: string, device: SuspectDevice, { isCertain }: OpenBreaker): boolean {
    if (isCertain || this.#suspicions.isSuspect(appId, device)) return false;
    return !this.#suspicions.isRealmSuspect(appId, device);
  }

  isOpen(appId: string): boolean {
    return this.#open.has(appId);
  }

  /** What a probe does first: takes up what was mended. */
  prepareProbe(): Promise<void> {
    return this.#options.reload();
  }

  /**
   * The vendor's answer blames the credential, but may be this device's fault alone. The answer is when to try again, or
   * `undefined` while that is for this notification to decide.
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
    // Any other phone's notification finds out at once.
    if (opened !== undefined) opened.probeAt = clock();
    return refusing;
  }

  /** The vendor refused the credential. The answer is when to try again. */
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
    // Stored after each probe: another process may have removed what was stored, by its start or because it got through.
    if (hasChanged || wasProbe) await this.#store(appId, known);
    return known.probeAt;
  }

  /** The vendor judged a notification on its merits, so the credential works. */
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
      // The notification was sent whatever "apps status" says; the next one that is sent tries to mend that.
      this.#unremoved.add(appId);
      log.warn({ app: appId, err }, '"apps status" still shows a credential that works again');
    }
  }

  /** Whether it matters to {@link worked} that a notification of this app was sent. */
  awaitsSuccess(appId: string): boolean {
    if (this.#open.has(appId) || this.#unremoved.has(appId)) return true;
    return this.#suspicions.isUnderSuspicion(appId);
  }

  /** What a probe does last. One that told nothing (no answer, a busy vendor) is followed a probe's time later. */
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
      `${credential} was refused: its notifications are held until it works`,
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
   * For readiness: one sentence that names every credential that the vendor itself has named as refused; `undefined` when
   * there is none. A suspicion takes nobody's relay away: phones can bring it about, and other apps are served.
   */
  describe(): string | undefined {
    const certain = [...this.#open].filter(([, { isCertain }]) => isCertain);
    if (certain.length === 0) return undefined;
    return certain
      .map(
        ([appId, { credential, reason }]) => `${credential} was refused for ${appId} with ${reason}: mend it`,
      )
      .join('; ');
  }
}
