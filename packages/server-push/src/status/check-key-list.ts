import {
  decodeBase64,
  type KeyListAnswer,
  parseJsonOrUndefined,
  parseKeyListDocument,
} from '@waxwing/protocol';
import type { Sodium } from '@waxwing/sodium';
import type { AdminNames } from '../admin-names.js';
import { describeKeyListTrouble } from '../relay-account/account-errors.js';
import { verifyPinned } from '../relay-account/pin-signing-key.js';
import type { RelayLink } from '../relay-link/relay-link.js';
import { failed, type PushCheck, passed, sentenceOf } from './push-check.js';

export interface KeyListCheckOptions {
  readonly sodium: Sodium;
  /** Unix milliseconds. */
  readonly now: number;
  /** The relay's pinned signing key; `undefined` if no key is pinned. */
  readonly pinned: string | undefined;
  readonly names: AdminNames;
}

const askOperator = "Ask the relay's operator to run waxwing-relay keys verify and to follow its advice.";

/** Checks that the relay publishes a key list that phones can follow, and that the pinned key signs it. */
export async function checkKeyList(
  link: Pick<RelayLink, 'fetchKeyList'>,
  options: KeyListCheckOptions,
): Promise<PushCheck[]> {
  const outcome = await link.fetchKeyList();
  if (outcome.kind === 'refused-for-good') {
    const cause = 'The relay publishes no key list, like any stock relay: phones use the key in the app.';
    return [passed('key list', cause)];
  }
  if (outcome.kind === 'retry') return [failed('key list', sentenceOf(outcome.reason), askOperator)];
  return [checkList(outcome.answer, options), checkSigner(outcome.answer, options)];
}

function checkList(answer: KeyListAnswer, { sodium, now }: KeyListCheckOptions): PushCheck {
  const verified = verifyPinned(answer, undefined, { sodium, now });
  if (verified.kind === 'refused') {
    const cause = `The relay's key list ${describeKeyListTrouble(verified.reason)}, so phones do not follow it.`;
    return failed('key list', cause, askOperator);
  }
  const until = new Date(verified.expiresAtSeconds * 1000).toISOString();
  return passed('key list', `The relay's key list is valid until ${until}.`);
}

/** Checks which key signed the list. Accepts expired lists, because they also show their signer. */
function checkSigner(answer: KeyListAnswer, { sodium, pinned, names }: KeyListCheckOptions): PushCheck {
  const signer = `The relay signs with ${answer.signing_public_key}`;
  if (pinned === undefined) return passed('signing key', `${signer}; no key is pinned.`);
  const bytes = decodeBase64(answer.key_list) ?? new Uint8Array();
  const issuedAt =
    parseKeyListDocument(parseJsonOrUndefined(new TextDecoder().decode(bytes)))?.issued_at ?? 0;
  const verified = verifyPinned(answer, pinned, { sodium, now: issuedAt * 1000 });
  if (verified.kind === 'verified') return passed('signing key', `${signer}, as pinned.`);
  return failed(
    'signing key',
    `${signer}, which has no chain of endorsements from the pinned key ${pinned}.`,
    `Ask the operator whether the key was replaced. If so, run ${names.push} disable --forget and ${names.push} enable again; if not, another relay answers in its place.`,
  );
}
