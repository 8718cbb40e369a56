import type { PushAccountId } from '@waxwing/protocol/phone';
import type { UnreachableCause } from '../chat-api/unreachable-cause.js';
import { jsonSafe } from '../json-safe.js';
import type { BouncerKeySource } from '../key-list/bouncer-key-choice.js';

/** User-facing sentence for each status code, in English. */
export const statusSentences = Object.freeze({
  active: 'Notifications are on for this phone.',
  pending:
    'This phone is being registered for notifications. This can take a while; you do not need to do anything.',
  'no-token':
    'The phone has not given this app a push token: check that the phone’s settings allow notifications.',
  unreachable:
    'The server cannot be reached. Registration for notifications continues when it can be reached again.',
  'retry-later': 'The server asks you to try again later.',
  'signed-out': 'The server no longer accepts the sign-in: sign in again.',
  'wrong-account':
    'The server reports a different account or address for this sign-in: sign in again or, if that does not help, contact the administrator of the server.',
  'not-configured':
    'This organization’s server is not set up to send notifications: its administrator can change that.',
  'ask-admin': 'The notification service refuses this organization: its administrator can find out why.',
  'update-app': 'This version of the app is too old for its notification service: update the app.',
  'no-usable-key':
    'The app cannot determine which key its notification service currently uses: connect to the internet, or update the app.',
  'clock-wrong':
    'The clock of this phone or of its server is wrong: let the phone set date and time automatically or, if they are correct, contact the administrator of the server.',
  'no-storage':
    'This app cannot store the data that it needs to show notifications on this phone: free some storage, or install the app again.',
  forgotten: 'This account is signed out of notifications on this phone.',
  failed: 'The notification service has refused this phone. The app tries again later.',
} as const);

/** Sentences that replace the `unreachable` sentence for causes that waiting does not resolve. */
const unreachableSentences: { readonly [Cause in UnreachableCause]?: string } = {
  cors: 'The server responds, but does not allow this page to read its responses: the app’s operator can serve both from one address.',
  'foreign-answer':
    'Something other than the chat server responds at its address: check the address, and whether this network requires a sign-in first, or try again later.',
};

/** Code of a registration status; {@link statusSentences} explains each to the user. */
export type RegistrationStatusCode = keyof typeof statusSentences;

/**
 * Registration status of an account, for the app's user interface. `JSON.stringify` writes the id as a decimal string.
 * It throws for a copy made with spread syntax, unless you convert the id first.
 */
export interface RegistrationStatus {
  readonly code: RegistrationStatusCode;
  /** For the user, in English. To translate, use `code`, and for `unreachable` also `cause`. */
  readonly sentence: string;
  /** The source of the key in use; absent before a key is chosen. */
  readonly keySource?: BouncerKeySource;
  /** A problem that does not necessarily prevent notifications. Intended for a log or a details page. */
  readonly warning?: string;
  /** The error code from the server or relay that led to this status. */
  readonly errorCode?: string;
  /**
   * Minimum time to wait before the next attempt, in seconds. Taken from the server's `Retry-After` header, or from the
   * backoff of a failed registration.
   */
  readonly retryAfterSeconds?: number;
  /** Why the server is `unreachable`. */
  readonly cause?: UnreachableCause;
  /** The account's id in the table; absent before the account is created. */
  readonly pushAccountId?: PushAccountId;
}

/** Builds a status with its sentence; omits details that are `undefined`. */
export function registrationStatus(
  code: RegistrationStatusCode,
  details: { readonly [Detail in keyof RegistrationStatus]?: RegistrationStatus[Detail] | undefined } = {},
): RegistrationStatus {
  const known = Object.entries(details).filter(([, value]) => value !== undefined);
  const ofCause = details.cause === undefined ? undefined : unreachableSentences[details.cause];
  return jsonSafe({ ...Object.fromEntries(known), code, sentence: ofCause ?? statusSentences[code] });
}
