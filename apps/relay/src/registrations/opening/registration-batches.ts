import type { RelayDeviceId } from '@waxwing/protocol';
import { ProtocolError, type PushAccountId } from '@waxwing/protocol';
import { atEndOfTick, type Clock } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import { DatabaseUnavailableError } from '@waxwing/storage';
import type { RealmId } from '../../servers/server-tables.js';
import {
  decodeSealedRegistration,
  invalidRegistration,
  isBoundTo,
  markSealedRegistration,
  type OpenedRegistration,
  openRegistration,
  requireFreshRegistration,
  supersededRegistration,
} from './open-registration.js';
import type { RegistrationKeys } from './registration-keys.js';

/** A registration that an authenticated server sent for one of its realms, and the key it says it is sealed to. */
export interface SealedRegistration {
  readonly realmId: RealmId;
  /** Lower case. */
  readonly realmUuid: string;
  readonly pushAccountId: PushAccountId;
  /** Base64. */
  readonly encryptedPushRegistration: string;
  readonly bouncerPublicKey: string;
}

/**
 * Why a registration is not kept: its sealed bytes were presented for another realm, or too many push accounts, before,
 * or the phone has registered the account with a later sequence since.
 */
type RegistrationRefusal = 'presented-before' | 'superseded';

/** What became of a registration that was to be kept. */
export type RegistrationOutcome = RelayDeviceId | RegistrationRefusal;

/** Where registrations are kept. */
export interface RegistrationStore {
  /** Whether it would begin at once with what it is given, beside the event loop. */
  readonly isIdle: boolean;
  /**
   * Keeps all of them, or none, and resolves with their device ids in the same order once they are durable; with the
   * refusal in the place of one that must not be kept. A repeat (same realm, push account and token) keeps its id, takes
   * the new values and lives again if it had expired.
   */
  saveAll(registrations: readonly OpenedRegistration[], now: number): Promise<readonly RegistrationOutcome[]>;
}

export interface RegistrationBatchesOptions {
  readonly clock: Clock;
  readonly sodium: Sodium;
  readonly keyRing: Pick<RegistrationKeys, 'find' | 'takeOver'>;
  readonly store: RegistrationStore;
  /** Milliseconds that nobody sets, in fractions: `performance.now` where nothing is said. */
  readonly monotonic?: Clock;
}

interface Waiting {
  readonly registration: SealedRegistration;
  resolve(deviceId: RelayDeviceId): void;
  reject(reason: unknown): void;
}

// Keeps one turn of the event loop below about 30 ms, even with the WebAssembly backend.
const maximumRegistrationsPerBatch = 256;
/**
 * A turn of the event loop that took as long was cut off, as HTTP requests get ten milliseconds of it: more of them wait.
 */
const cutOffMilliseconds = 8;
/** A commit holds up the event loop for as long as the disk takes, however few it keeps. */
const maximumTurnsPerBatch = 4;
/** So many are worth a commit of their own where that holds up nobody. */
const worthACommit = 16;

/**
 * Opens the registrations that arrive in one turn of the event loop one right after the other, which is half as fast
 * again as opening each between two parsings, and keeps them in one commit. While more arrive than one turn has time for,
 * those of some turns are taken together. A store that works beside the event loop gets some whenever it is idle.
 */
export class RegistrationBatches {
  readonly #options: RegistrationBatchesOptions;
  #waiting: Waiting[] = [];
  #turns = 0;
  #turnBeganAt = 0;
  readonly #monotonic: Clock;

  constructor(options: RegistrationBatchesOptions) {
    this.#options = options;
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  /**
   * The RelayDevice's id, once it is durable.
   * @throws ProtocolError INVALID_BOUNCER_PUBLIC_KEY, BAD_REQUEST or REQUEST_EXPIRED, checked in this order.
   */
  register(registration: SealedRegistration): Promise<RelayDeviceId> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ registration, resolve, reject });
      if (this.#waiting.length === 1) {
        this.#turns = 0;
        this.#awaitTurn();
      } else if (this.#waiting.length >= worthACommit && this.#options.store.isIdle) {
        void this.#registerWaiting();
      }
    });
  }

  #awaitTurn(): void {
    this.#turns += 1;
    this.#turnBeganAt = this.#monotonic();
    atEndOfTick(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    const wasCutOff = this.#monotonic() - this.#turnBeganAt >= cutOffMilliseconds;
    const hasRoom = this.#turns < maximumTurnsPerBatch && this.#waiting.length < maximumRegistrationsPerBatch;
    if (wasCutOff && hasRoom) this.#awaitTurn();
    else void this.#registerWaiting();
  };

  async #registerWaiting(): Promise<void> {
    const batch = this.#waiting.splice(0, maximumRegistrationsPerBatch);
    if (this.#waiting.length > 0) atEndOfTick(() => void this.#registerWaiting());
    const { keyRing } = this.#options;
    try {
      const isKnown = ({ registration }: Waiting) =>
        keyRing.find(registration.bouncerPublicKey) !== undefined;
      if (!batch.every(isKnown)) await keyRing.takeOver();
      const now = this.#options.clock();
      await this.#save([...this.#open(batch, now)], now);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /** Those that cannot be kept together are kept one by one, in order, so that one that fails fails alone. */
  async #save(opened: readonly (readonly [Waiting, OpenedRegistration])[], now: number): Promise<void> {
    if (opened.length === 0) return;
    try {
      const registrations = opened.map(([, registration]) => registration);
      const outcomes = await this.#options.store.saveAll(registrations, now);
      for (const [index, [waiting]] of opened.entries()) settle(waiting, outcomes[index]);
    } catch (error) {
      if (opened.length > 1 && !(error instanceof DatabaseUnavailableError)) {
        for (const each of opened) await this.#save([each], now);
      } else {
        for (const [{ reject }] of opened) reject(error);
      }
    }
  }

  /** What is to be kept. Those that do not pass are refused here. */
  #open(batch: readonly Waiting[], now: number): Map<Waiting, OpenedRegistration> {
    const opened = new Map<Waiting, OpenedRegistration>();
    for (const waiting of batch) {
      try {
        opened.set(waiting, this.#openOne(waiting.registration, now));
      } catch (error) {
        waiting.reject(error);
      }
    }
    return opened;
  }

  #openOne(registration: SealedRegistration, now: number): OpenedRegistration {
    const { realmId, realmUuid, pushAccountId, encryptedPushRegistration, bouncerPublicKey } = registration;
    const { sodium, keyRing } = this.#options;
    // Asked for only here, because a key may be retired, and its private half wiped, while a registration waits.
    const keyPair = keyRing.find(bouncerPublicKey);
    if (keyPair === undefined) throw new ProtocolError('INVALID_BOUNCER_PUBLIC_KEY');
    const sealed = decodeSealedRegistration(encryptedPushRegistration);
    const target = requireFreshRegistration(openRegistration(sodium, sealed, keyPair), now);
    if (sealed === undefined || !isBoundTo(target, { realmUuid, pushAccountId, now }))
      throw invalidRegistration();
    const device = { realmId, pushAccountId, target, registeredAt: now };
    const mark = markSealedRegistration(sealed, target);
    return { device, bouncerPublicKey, mark, sequence: target.sequence };
  }
}

function settle({ resolve, reject }: Waiting, outcome: RegistrationOutcome | undefined): void {
  if (typeof outcome === 'number') resolve(outcome);
  else reject(outcome === 'superseded' ? supersededRegistration() : invalidRegistration());
}
