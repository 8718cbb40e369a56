import { relayRevokePath } from '@waxwing/protocol/phone';
import type { SealedRevocation } from '../accounts/forgotten-account.js';
import { createServerClock, type PhoneClock } from '../server-clock.js';
import { exchangeJson } from './api-exchange.js';
import type { Fetch } from './fetch.js';
import { encodeForm, type FormFields } from './form.js';

export interface RelayApiOptions {
  /** The relay's URL, without a trailing slash. */
  readonly relayUrl: string;
  readonly fetch: Fetch;
  readonly clock: PhoneClock;
  readonly timeoutMilliseconds: number;
}

/** The operations that a phone calls directly on the relay, without credentials. */
export interface RelayApi {
  /** Sends a revocation of the phone's registrations. @throws ApiError, UnreachableError. */
  revoke(revocation: SealedRevocation): Promise<void>;
}

export function createRelayApi({
  relayUrl,
  fetch,
  clock: deviceClock,
  timeoutMilliseconds,
}: RelayApiOptions): RelayApi {
  const connection = { fetch, deviceClock, serverClock: createServerClock(deviceClock) };
  const url = `${relayUrl}${relayRevokePath}`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return {
    async revoke(revocation) {
      const body = encodeForm(fieldsOfRevocation(revocation));
      await exchangeJson(connection, { method: 'POST', url, headers, body, timeoutMilliseconds });
    },
  };
}

/** Returns the form fields of a revocation, for the relay or for a server that forwards it. */
export function fieldsOfRevocation({
  bouncerPublicKey,
  encryptedPushRevocation,
}: SealedRevocation): FormFields {
  return { bouncer_public_key: bouncerPublicKey, encrypted_push_revocation: encryptedPushRevocation };
}
