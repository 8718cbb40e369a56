import type { Secret } from '@waxwing/service/config';
import type { CryptoKey } from 'jose';

/** A Firebase project and the service account that sends for it. */
export interface FcmApp {
  readonly vendor: 'fcm';
  readonly projectId: string;
  readonly clientEmail: string;
  readonly privateKeyId: string;
  readonly privateKey: Secret<CryptoKey>;
  readonly tokenUri: string;
  /** Digest of account, key id, token endpoint and public key. Distinguishes two credentials. */
  readonly fingerprint: string;
  /** The message field that addresses a phone that registered with a Firebase installation id. */
  readonly addressBy: 'token' | 'fid';
  /** Whether messages use Google's AndroidConfigV2 instead of AndroidConfig. */
  readonly usesAndroidV2: boolean;
  /** Path of the credential's file, for error messages. */
  readonly serviceAccountFile: string;
  /** Servers and realms (UUIDs) with devices in this project. Both are empty for the default project. */
  readonly serverIds: ReadonlySet<string>;
  readonly realmUuids: ReadonlySet<string>;
}

/** Finds the Firebase project of a realm: its own, else its server's, else the default; `undefined` if there is none. */
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

function isDefaultFcmApp({ serverIds, realmUuids }: FcmApp): boolean {
  return serverIds.size === 0 && realmUuids.size === 0;
}
