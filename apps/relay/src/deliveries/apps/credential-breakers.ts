import type { Clock, Log } from '@waxwing/service';
import type { AppRoute } from './app-registry.js';
import type { BreakerStore } from './breaker-store.js';

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
  readonly reason: string;
  readonly credential: string;
  probeAt: number;
  isProbing: boolean;
  /** Notifications told to come back after the next probe. */
  held: number;
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

  constructor(options: CredentialBreakersOptions) {
    this.#options = options;
  }

  admit(appId: string): Admission {
    const breaker = this.#open.get(appId);
    if (breaker === undefined) return go;
    const now = this.#options.clock();
    if (now >= breaker.probeAt && !breaker.isProbing) {
      breaker.isProbing = true;
      return { kind: 'probe' };
    }
    const probed = breaker.isProbing ? now + this.#options.probeMilliseconds / 10 : breaker.probeAt;
    const until = Math.ceil(
      probed + Math.min(breaker.held * heldApartMilliseconds, maximumSpreadMilliseconds),
    );
    breaker.held += 1;
    return { kind: 'held', until, reason: breaker.reason };
  }

  isOpen(appId: string): boolean {
    return this.#open.has(appId);
  }

  /** What a probe does first: takes up what was mended. */
  prepareProbe(): Promise<void> {
    return this.#options.reload();
  }

  /** The vendor refused the credential. The answer is when to try again. */
  async refused({ appId, credential }: AppRoute, reason: string, notBefore: number): Promise<number> {
    const { clock, log, probeMilliseconds, store } = this.#options;
    const now = clock();
    const probeAt = Math.ceil(Math.max(now + probeMilliseconds, notBefore));
    const known = this.#open.get(appId);
    if (known !== undefined) {
      known.probeAt = Math.max(known.probeAt, probeAt);
      known.isProbing = false;
      known.held = 0;
      return known.probeAt;
    }
    this.#open.set(appId, { reason, credential, probeAt, isProbing: false, held: 0 });
    this.#options.onChange(appId, true);
    log.error({ app: appId, reason }, `${credential} was refused: its notifications are held until it works`);
    await store.open({
      app: appId,
      kind: 'credential',
      reason: `${credential} was refused: ${reason}`,
      at: now,
    });
    return probeAt;
  }

  /** The vendor judged a notification on its merits, so the credential works. */
  async worked(appId: string): Promise<void> {
    const breaker = this.#open.get(appId);
    if (breaker === undefined || !this.#open.delete(appId)) return;
    this.#options.onChange(appId, false);
    this.#options.log.info({ app: appId }, `${breaker.credential} works again`);
    await this.#options.store.close(appId, 'credential');
  }

  /** A probe that told nothing (no answer): the next one comes a probe's time later. */
  inconclusive(appId: string): void {
    const breaker = this.#open.get(appId);
    if (breaker === undefined) return;
    breaker.isProbing = false;
    breaker.probeAt = this.#options.clock() + this.#options.probeMilliseconds;
    breaker.held = 0;
  }

  /** For readiness: one sentence that names every refused credential; `undefined` when there is none. */
  describe(): string | undefined {
    if (this.#open.size === 0) return undefined;
    return [...this.#open]
      .map(
        ([appId, { credential, reason }]) => `${credential} was refused for ${appId} with ${reason}: mend it`,
      )
      .join('; ');
  }
}
