import type { Secret } from '@waxwing/service/config';
import type { CryptoKey } from 'jose';

/** A Firebase project and the service account that may send for it. */
export interface FcmApp {
  readonly vendor: 'fcm';
  readonly projectId: string;
  readonly clientEmail: string;
  readonly privateKeyId: string;
  readonly privateKey: Secret<CryptoKey>;
  readonly tokenUri: string;
  /** Tells one credential from another: a digest of account, key id, token endpoint and public key. */
  readonly fingerprint: string;
  /** Which field of a message names the phone: its registration token, or its Firebase installation id. */
  readonly addressBy: 'token' | 'fid';
  /** For people: which file to mend. */
  readonly serviceAccountFile: string;
  /** Servers (UUIDs) and realms (UUIDs) whose devices belong to this project; empty for the default project. */
  readonly serverIds: ReadonlySet<string>;
  readonly realmUuids: ReadonlySet<string>;
}

/** The Firebase project for a realm's devices: its own, else its server's, else the default; `undefined` for none. */
export function findFcmApp(
  { fcm }: { readonly fcm: readonly FcmApp[] },
  serverId: string,
  realmUuid: string,
): FcmApp | undefined {
  return (
    fcm.find(({ realmUuids }) => realmUuids.has(realmUuid)) ??
    fcm.find(({ serverIds }) => serverIds.has(serverId)) ??
    fcm.find(isDefaultFcmApp)
  );
}

export function isDefaultFcmApp({ serverIds, realmUuids }: FcmApp): boolean {
  return serverIds.size === 0 && realmUuids.size === 0;
}
