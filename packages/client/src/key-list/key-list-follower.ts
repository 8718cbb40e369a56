import {
  type JsonObject,
  type KeyListRefusal,
  type KeyListTrust,
  type KeyListVerdict,
  parseKeyListAnswer,
  type VerifySignature,
  verifyKeyList,
} from '@waxwing/protocol/phone';
import { ApiError, UnreachableError } from '../chat-api/api-error.js';
import { exclusively } from '../mutex.js';
import type { PhoneClock } from '../server-clock.js';
import { longestClockLagMilliseconds } from '../time-to-follow.js';
import type { BouncerKeyChoice, BouncerKeyChooser, NoBouncerKey } from './bouncer-key-choice.js';
import { followKeyList, type KeyListState, type KeyListStore, validKeyListState } from './key-list-state.js';

export interface KeyListFollowerOptions {
  /** The relay's public key built into the app. Base64, like the signing and recovery keys. */
  readonly builtInPublicKey: string;
  readonly signingPublicKey: string;
  readonly recoveryPublicKey: string | undefined;
  readonly store: KeyListStore;
  readonly verify: VerifySignature;
  readonly deviceClock: PhoneClock;
}

const refusals: Readonly<Record<KeyListRefusal, string>> = {
  malformed: 'it is not a key list',
  'bad-signature': 'its signature is wrong',
  'unknown-signing-key': 'no endorsement connects its signing key to the key in the app',
  expired: 'it has expired',
  'issued-in-the-future': 'it was issued in the future, or the clock of the phone is far behind',
  'sequence-went-back': 'it is older than a list that was seen before',
  'sequence-too-far-ahead': 'its sequence is too far ahead of its date and of the phone’s clock',
};

/**
 * Follows the relay's signed key lists (docs/protocol.md#following-key-lists). Chooses the primary key of the newest
 * verified list until the list expires, then the built-in key. Never chooses a key that was revoked or dropped by any
 * verified list.
 */
export function createKeyListFollower(options: KeyListFollowerOptions): BouncerKeyChooser {
  const { store } = options;
  // Uses only the device's own clock. Otherwise a malicious server could make a list expire early or never.
  const nowSeconds = () => Math.floor(options.deviceClock() / 1000);

  async function follow(answer: JsonObject): Promise<string | undefined> {
    const state = validKeyListState(await store.get());
    const trusted = trustedKeys(state, options);
    const verdict = verify(answer, { ...options, ...trusted }, state, nowSeconds());
    if (verdict.kind === 'refused') {
      return `The server's list of relay keys is not followed: ${refusals[verdict.reason]}.`;
    }
    await store.put(
      followKeyList(state, {
        ...verdict,
        pinnedSigningPublicKey: options.signingPublicKey,
        builtInPublicKey: options.builtInPublicKey,
        // Keeps the first recovery key that it learned, because a thief of the signing key could publish a different
        // one.
        learnedRecoveryPublicKey:
          options.recoveryPublicKey === undefined
            ? (trusted.recoveryPublicKey ?? verdict.list.recovery_public_key)
            : undefined,
      }),
    );
    return undefined;
  }

  return {
    async choose(origin) {
      let problem: string | undefined;
      try {
        const answer = await origin.fetchKeyList();
        // Serialized, because a list that arrives late could otherwise overwrite the revocations of a newer list.
        problem = await exclusively('waxwing.key-list', () => follow(answer));
      } catch (error) {
        problem = problemOf(error);
      }
      return chooseKey(validKeyListState(await store.get()), problem, nowSeconds(), options.builtInPublicKey);
    },
  };
}

type TrustedKeys = Pick<KeyListTrust, 'signingPublicKey' | 'recoveryPublicKey'>;

/**
 * Selects the keys to trust. If an app update pins a new signing key, that key replaces the current signing key, unless
 * the phone already uses the pinned key or a successor. The keys that the previous key vouched for are also discarded,
 * because the update may be a response to the theft of the previous key. A pinned recovery key takes precedence over a
 * recovery key from a list.
 */
function trustedKeys(
  state: KeyListState | undefined,
  { signingPublicKey: pinned, recoveryPublicKey }: TrustedKeys,
): TrustedKeys {
  if (state === undefined) return { signingPublicKey: pinned, recoveryPublicKey };
  const isNewPin =
    pinned !== state.pinnedSigningPublicKey &&
    pinned !== state.signingPublicKey &&
    !state.refusedPublicKeys.includes(pinned);
  return isNewPin
    ? { signingPublicKey: pinned, recoveryPublicKey }
    : {
        signingPublicKey: state.signingPublicKey,
        recoveryPublicKey: recoveryPublicKey ?? state.learnedRecoveryPublicKey,
      };
}

function verify(
  answer: JsonObject,
  trusted: TrustedKeys & Pick<KeyListTrust, 'verify'>,
  state: KeyListState | undefined,
  nowSeconds: number,
): KeyListVerdict {
  const parsed = parseKeyListAnswer(answer);
  if (parsed === undefined) return { kind: 'refused', reason: 'malformed' };
  return verifyKeyList(parsed, {
    verify: trusted.verify,
    signingPublicKey: trusted.signingPublicKey,
    recoveryPublicKey: trusted.recoveryPublicKey,
    revokedKeys: new Set(state?.refusedPublicKeys),
    lastSequence: state?.sequence ?? 0,
    nowSeconds,
    clockLagSeconds: longestClockLagMilliseconds / 1000,
  });
}

function chooseKey(
  state: KeyListState | undefined,
  problem: string | undefined,
  nowSeconds: number,
  builtInPublicKey: string,
): BouncerKeyChoice | NoBouncerKey {
  const refused = new Set(state?.refusedPublicKeys);
  if (state !== undefined && nowSeconds < state.expiresAt && !refused.has(state.primaryPublicKey)) {
    const { primaryPublicKey: publicKey, sequence, issuedAt } = state;
    const listed = { publicKey, sequence, issuedAt: issuedAt * 1000 };
    return problem === undefined
      ? { source: 'key-list', ...listed }
      : { source: 'last-good-list', ...listed, warning: `${problem} The last good list is in use.` };
  }
  const why =
    problem ?? 'The list of relay keys names a primary key that an earlier list revoked or dropped.';
  if (refused.has(builtInPublicKey) || state?.unlistedBuiltInKey === builtInPublicKey) {
    return { source: 'none', warning: `${why} The key in the app is no longer accepted.` };
  }
  return {
    source: 'built-in',
    publicKey: builtInPublicKey,
    warning: `${why} The key in the app is in use.`,
  };
}

function problemOf(error: unknown): string {
  if (error instanceof ApiError || error instanceof UnreachableError) {
    return `The list of relay keys cannot be fetched: ${error.message}`;
  }
  throw error;
}
