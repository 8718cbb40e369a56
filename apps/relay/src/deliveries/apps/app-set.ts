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

/** An Apple developer team's key and the apps that may be served with it. */
export interface ApnsApp {
  readonly vendor: 'apns';
  readonly teamId: string;
  readonly keyId: string;
  readonly privateKey: Secret<CryptoKey>;
  /** Tells one key from another that bears the same id: a digest of team, key id and public key. */
  readonly fingerprint: string;
  readonly keyFile: string;
  /** Bundle ids, or any. */
  readonly topics: ReadonlySet<string> | '*';
}

/** Every credential that the relay holds with a vendor. */
export interface AppSet {
  readonly fcm: readonly FcmApp[];
  readonly apns: readonly ApnsApp[];
}

/** The Firebase project for a realm's devices: its own, else its server's, else the default; `undefined` for none. */
export function findFcmApp({ fcm }: AppSet, serverId: string, realmUuid: string): FcmApp | undefined {
  return (
    fcm.find(({ realmUuids }) => realmUuids.has(realmUuid)) ??
    fcm.find(({ serverIds }) => serverIds.has(serverId)) ??
    fcm.find(isDefaultFcmApp)
  );
}

export function isDefaultFcmApp({ serverIds, realmUuids }: FcmApp): boolean {
  return serverIds.size === 0 && realmUuids.size === 0;
}

/** The team's key that serves a bundle id: one that names it, else one that serves any; `undefined` for none. */
export function findApnsApp({ apns }: AppSet, topic: string): ApnsApp | undefined {
  return (
    apns.find(({ topics }) => topics !== '*' && topics.has(topic)) ??
    apns.find(({ topics }) => topics === '*')
  );
}
