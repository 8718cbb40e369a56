import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** `test/vectors/relay-protocol.json`: made with PyNaCl, all binary values in base64. */
export interface RelayProtocolVectors {
  readonly bouncer_private_key: string;
  readonly bouncer_public_key: string;
  readonly ephemeral_private_key: string;
  readonly registrations: readonly {
    readonly kind: 'fcm' | 'apns';
    readonly plaintext: string;
    readonly sealed: string;
    readonly len: number;
    readonly token: string;
    readonly token_id: string;
    readonly token_id_int64: string;
  }[];
  readonly push_key: string;
  readonly nonce: string;
  readonly notifications: readonly {
    readonly type: string;
    readonly plaintext_utf8: string;
    readonly encrypted_data: string;
    readonly len: number;
    readonly plain_len: number;
  }[];
  readonly gen11: {
    readonly client_private_key: string;
    readonly push_public_key: string;
    readonly plaintext: string;
    readonly encrypted_data: string;
  };
  readonly token_ids: readonly {
    readonly token: string;
    readonly token_id: string;
    readonly token_id_int64: string;
  }[];
}

/** `test/vectors/registrations-that-must-fail.json`; `test/vectors/README.md` explains the fields. */
export interface RegistrationVectors {
  readonly note: string;
  readonly now: number;
  readonly keys: readonly RegistrationVectorKey[];
  readonly vectors: readonly RegistrationVector[];
}

export interface RegistrationVectorKey {
  readonly name: string;
  readonly public_key: string;
  readonly private_key: string;
  readonly in_key_ring: boolean;
}

export interface RegistrationVector {
  readonly name: string;
  readonly note: string;
  readonly bouncer_public_key: string;
  readonly encrypted_push_registration: string;
  readonly box_opens: boolean;
  readonly age_seconds?: number;
  readonly plaintext?: string;
  readonly expect:
    | { readonly error: 'BAD_REQUEST' | 'REQUEST_EXPIRED' | 'INVALID_BOUNCER_PUBLIC_KEY' }
    | {
        readonly ok: {
          readonly token: string;
          readonly token_kind: 'fcm' | 'apns';
          readonly ios_app_id: string | null;
        };
      };
}

const vectorsDirectory = new URL('../vectors/', import.meta.url);

// Parses each file only once: the larger one is 310 kB, and all relay tests use it several times.
let relayProtocol: RelayProtocolVectors | undefined;
let registrations: RegistrationVectors | undefined;

/** Test vectors of encrypted push that must decrypt successfully. */
export function relayProtocolVectors(): RelayProtocolVectors {
  relayProtocol ??= readJson(new URL('relay-protocol.json', vectorsDirectory)) as RelayProtocolVectors;
  return relayProtocol;
}

/** Registrations that a relay must reject, and boundary cases that it must accept. */
export function registrationVectors(): RegistrationVectors {
  registrations ??= readJson(registrationVectorsUrl) as RegistrationVectors;
  return registrations;
}

const registrationVectorsUrl = new URL('registrations-that-must-fail.json', vectorsDirectory);

/** Path of the registration vectors, which the generator writes and the loader reads. */
export const registrationVectorsPath = fileURLToPath(registrationVectorsUrl);

function readJson(url: URL): unknown {
  return JSON.parse(readFileSync(url, 'utf8'));
}
