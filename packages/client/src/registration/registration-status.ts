import type { PushAccountId } from '@waxwing/protocol/phone';
import type { UnreachableCause } from '../chat-api/unreachable-cause.js';
import type { BouncerKeySource } from '../key-list/bouncer-key-choice.js';

/** What each code means for the person who holds the phone. */
export const statusSentences = Object.freeze({
  active: 'Notifications are on for this phone.',
  pending: 'This phone is being registered for notifications. This can take a while; there is nothing to do.',
  'no-token':
    'The phone has not given this app a push token: check that notifications are allowed in the settings of the phone.',
  unreachable: 'The server cannot be reached. Registration for notifications goes on when it can be again.',
  'retry-later': 'The server asks to try again later.',
  'signed-out': 'The server does not accept the sign-in any more: sign in again.',
  'wrong-account':
    'The server knows this sign-in as another account or under another address: sign in again or, if that does not help, tell the administrator of the server.',
  'not-configured':
    'This organisation’s server is not set up to send notifications: its administrator can change that.',
  'ask-admin': 'The notification service refuses this organisation: its administrator can find out why.',
  'update-app': 'This version of the app is too old for its notification service: update the app.',
  'no-usable-key':
    'The app cannot find out which key its notification service uses today: connect to the internet, or update the app.',
  'clock-wrong':
    'The clock of this phone or of its server is wrong: let the phone set date and time by itself or, if they are right, tell the administrator of the server.',
  failed: 'The notification service has refused this phone. The app tries again at its next start.',
} as const);

/** In place of the sentence of `unreachable`, where waiting alone will not help. */
const unreachableSentences: { readonly [Cause in UnreachableCause]?: string } = {
  cors: 'The server answers, but does not allow this page to read its answers: whoever runs this app can have both at one address.',
  'foreign-answer':
    'Something other than the chat server answers at its address: check the address and whether this network asks for a sign-in first, or try again later.',
};

export type RegistrationStatusCode = keyof typeof statusSentences;

/** Where an account stands. */
export interface RegistrationStatus {
  readonly code: RegistrationStatusCode;
  /** For people, in English; translate by `code` and, where it is `unreachable`, by `cause`. */
  readonly sentence: string;
  /** Which key registrations are sealed to, once that was settled. */
  readonly keySource?: BouncerKeySource;
  /** What is not as it should be, though notifications may work: for a log or a page of details. */
  readonly warning?: string;
  /** The code of the server or relay behind this status. */
  readonly errorCode?: string;
  readonly retryAfterSeconds?: number;
  /** Why the server is `unreachable`. */
  readonly cause?: UnreachableCause;
  /** The account's row in the table, once there is one. */
  readonly pushAccountId?: PushAccountId;
}

/** The status for a code, with its sentence; details that are `undefined` are left out. */
export function registrationStatus(
  code: RegistrationStatusCode,
  details: { readonly [Detail in keyof RegistrationStatus]?: RegistrationStatus[Detail] | undefined } = {},
): RegistrationStatus {
  const known = Object.entries(details).filter(([, value]) => value !== undefined);
  const ofCause = details.cause === undefined ? undefined : unreachableSentences[details.cause];
  return { ...Object.fromEntries(known), code, sentence: ofCause ?? statusSentences[code] };
}
