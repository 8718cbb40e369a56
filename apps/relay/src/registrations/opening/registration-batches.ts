import { ProtocolError, type RelayDeviceId } from '@waxwing/protocol';
import { atEndOfTick, type Clock, settleBatch } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import { mayBeOneWritesFault } from '@waxwing/storage';
import type { RealmId } from '../../servers/server-tables.js';
import { type Addressee, tokenIdOf } from '../store/addressee.js';
import type { Revocations } from '../store/revocations.js';
import type { SameTokenDevices } from '../store/same-token-devices.js';
import {
  decodeSealedRegistration,
  invalidRegistration,
  isBoundTo,
  isOfToken,
  markSealedRegistration,
  type OpenedRegistration,
  openRegistration,
  requireFreshRegistration,
  supersededRegistration,
} from './open-registration.js';
import type { RegistrationKeys } from './registration-keys.js';

/** A registration that an authenticated server sent for one of its realms, and the key that the server names for it. */
export interface SealedRegistration {
  readonly realmId: RealmId;
  /** Lowercase. */
  readonly realmUuid: string;
  readonly addressee: Addressee;
  /** Base64. */
  readonly encryptedPushRegistration: string;
  readonly bouncerPublicKey: string;
  /** Other addressees of the same user, whose tokens are compared with this registration's token. */
  readonly others: readonly Addressee[];
}

/** Result for a registration that was stored. */
export interface KeptRegistration {
  readonly deviceId: RelayDeviceId;
  /** The addressees among `others` whose device has the same token. */
  readonly sameToken: readonly Addressee[];
}

/**
 * Why a registration is not stored. `presented-before`: the same sealed bytes were presented for another realm or for
 * too many push accounts. `superseded`: the phone has registered the account with a higher sequence.
 */
type RegistrationRefusal = 'presented-before' | 'superseded';

/** Outcome of storing a registration. */
export type RegistrationOutcome = RelayDeviceId | RegistrationRefusal;

/** Durable store of registrations. */
export interface RegistrationStore {
  /** Whether a save would start immediately, without blocking the event loop. */
  readonly isIdle: boolean;
  /**
   * Stores all valid registrations in one commit. Once they are durable, resolves to one outcome per registration, in
   * order: the device id, or the reason for a refusal. A repeat (same realm, push account and token) keeps its id,
   * stores the new values and revives an expired device.
   */
  saveAll(registrations: readonly OpenedRegistration[], now: number): Promise<readonly RegistrationOutcome[]>;
}

export interface RegistrationBatchesOptions {
  readonly clock: Clock;
  readonly sodium: Sodium;
  readonly keyRing: Pick<RegistrationKeys, 'find' | 'takeOver'>;
  readonly store: RegistrationStore;
  readonly sameToken: Pick<SameTokenDevices, 'find'>;
  readonly revocations: Pick<Revocations, 'withdraw'>;
  /** Counter for the dashboard. Default: none. */
  readonly minuteCounts?: { noteRegistered(count: number): void };
  /** Monotonic clock in milliseconds, with fractions. Default: `performance.now`. */
  readonly monotonic?: Clock;
}

interface PendingRegistration {
  readonly registration: SealedRegistration;
  resolve(kept: KeptRegistration): void;
  reject(reason: unknown): void;
}

// Keeps each event-loop tick below about 30 ms, even with the WebAssembly backend.
const maximumRegistrationsPerBatch = 256;
/**
 * Duration from which a tick counts as cut off, with requests still queued: the scheduler gives HTTP requests 10 ms of
 * each tick.
 */
const cutOffMilliseconds = 8;
/**
 * Maximum number of ticks that a batch spans. More ticks per batch mean fewer commits, each of which blocks the event
 * loop for as long as the disk takes.
 */
const maximumTicksPerBatch = 4;
/** Minimum size of a batch that is committed early because the commit does not block the event loop. */
const minimumEarlyBatch = 16;

/**
 * Opens registrations in batches, one per event-loop tick: 1.5 times faster than interleaving with parsing, and a batch
 * shares one commit. While ticks are cut off with more requests queued, one batch spans several ticks. A store that
 * writes off the event loop gets a batch whenever it is idle.
 */
export class RegistrationBatches {
  readonly #options: RegistrationBatchesOptions;
  #waiting: PendingRegistration[] = [];
  #ticks = 0;
  #tickBeganAt = 0;
  readonly #monotonic: Clock;

  constructor(options: RegistrationBatchesOptions) {
    this.#options = options;
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  /**
   * Resolves once the device is durable.
   * @throws ProtocolError INVALID_BOUNCER_PUBLIC_KEY, BAD_REQUEST or REQUEST_EXPIRED, checked in this order.
   */
  register(registration: SealedRegistration): Promise<KeptRegistration> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ registration, resolve, reject });
      if (this.#waiting.length === 1) {
        this.#ticks = 0;
        this.#awaitTick();
      } else if (this.#waiting.length >= minimumEarlyBatch && this.#options.store.isIdle) {
        void this.#registerWaiting();
      }
    });
  }

  #awaitTick(): void {
    this.#ticks += 1;
    this.#tickBeganAt = this.#monotonic();
    atEndOfTick(this.#endTick);
  }

  readonly #endTick = (): void => {
    const wasCutOff = this.#monotonic() - this.#tickBeganAt >= cutOffMilliseconds;
    const hasRoom = this.#ticks < maximumTicksPerBatch && this.#waiting.length < maximumRegistrationsPerBatch;
    if (wasCutOff && hasRoom) this.#awaitTick();
    else void this.#registerWaiting();
  };

  async #registerWaiting(): Promise<void> {
    const batch = this.#waiting.splice(0, maximumRegistrationsPerBatch);
    if (this.#waiting.length > 0) atEndOfTick(() => void this.#registerWaiting());
    const { keyRing } = this.#options;
    try {
      const isKnown = ({ registration }: PendingRegistration) =>
        keyRing.find(registration.bouncerPublicKey) !== undefined;
      if (!batch.every(isKnown)) await keyRing.takeOver();
      const now = this.#options.clock();
      await this.#save([...this.#open(batch, now)], now);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async #save(
    opened: readonly (readonly [PendingRegistration, OpenedRegistration])[],
    now: number,
  ): Promise<void> {
    if (opened.length === 0) return;
    const registrations = opened.map(([, registration]) => registration);
    const save = (some: readonly OpenedRegistration[]) => this.#options.store.saveAll(some, now);
    const outcomes = await settleBatch(registrations, save, mayBeOneWritesFault);
    const isRevoked = await this.#options.revocations.withdraw(
      opened.map(([{ registration }, { device }]) => {
        const { realmUuid, addressee } = registration;
        return { realmUuid, addressee, token: device.target.token, datedAt: device.datedAt };
      }),
    );
    const stored = outcomes.filter((each) => each.status === 'fulfilled' && typeof each.value === 'number');
    this.#options.minuteCounts?.noteRegistered(stored.length);
    const sameToken = await this.#findSameToken(opened);
    for (const [index, [pending]] of opened.entries()) {
      if (isRevoked[index]) pending.reject(supersededRegistration());
      else settle(pending, outcomes[index], sameToken[index] ?? []);
    }
  }

  /** Call it after the commit, so that at least one of two concurrent registrations of a token finds the other. */
  async #findSameToken(
    opened: readonly (readonly [PendingRegistration, OpenedRegistration])[],
  ): Promise<readonly Addressee[][]> {
    if (opened.every(([{ registration }]) => registration.others.length === 0)) return [];
    const compared = opened.map(([{ registration }, { device }]) => {
      return { realmId: device.realmId, target: device.target, others: registration.others };
    });
    return this.#options.sameToken.find(compared);
  }

  /** Opens a batch and returns the registrations to store. Rejects the promises of invalid registrations. */
  #open(batch: readonly PendingRegistration[], now: number): Map<PendingRegistration, OpenedRegistration> {
    const opened = new Map<PendingRegistration, OpenedRegistration>();
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
    const { realmId, addressee, encryptedPushRegistration, bouncerPublicKey } = registration;
    const { sodium, keyRing } = this.#options;
    // Looked up only now: while the registration was queued, the key may have been retired and its private half wiped.
    const keyPair = keyRing.find(bouncerPublicKey);
    if (keyPair === undefined) throw new ProtocolError('INVALID_BOUNCER_PUBLIC_KEY');
    const sealed = decodeSealedRegistration(encryptedPushRegistration);
    const opened = openRegistration(sodium, sealed, keyPair);
    // Checked before the age, as in stock relays: an old registration for another token is invalid, not expired.
    if (opened !== undefined && !isOfToken(opened, addressee)) throw invalidRegistration();
    const target = requireFreshRegistration(opened, now);
    const { realmUuid } = registration;
    if (sealed === undefined || !isBoundTo(target, { realmUuid, addressee, now }))
      throw invalidRegistration();
    const device = { realmId, addressee, target, registeredAt: now, datedAt: target.timestamp * 1000 };
    const mark = markSealedRegistration(sealed, target);
    // No sequence for a token: the users of one phone share the token, but each user's registrations are numbered
    // separately.
    const sequence = tokenIdOf(addressee) === undefined ? target.sequence : undefined;
    return { device, bouncerPublicKey, mark, sequence };
  }
}

function settle(
  { resolve, reject }: PendingRegistration,
  saved: PromiseSettledResult<RegistrationOutcome> | undefined,
  sameToken: readonly Addressee[],
): void {
  if (saved?.status !== 'fulfilled') reject(saved?.reason);
  else if (typeof saved.value === 'number') resolve({ deviceId: saved.value, sameToken });
  else reject(saved.value === 'superseded' ? supersededRegistration() : invalidRegistration());
}
