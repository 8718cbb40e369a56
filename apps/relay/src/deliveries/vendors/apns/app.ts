import type { Secret } from '@waxwing/service/config';
import type { CryptoKey } from 'jose';

/** An Apple developer team's key and the apps that it serves. */
export interface ApnsApp {
  readonly vendor: 'apns';
  readonly teamId: string;
  readonly keyId: string;
  readonly privateKey: Secret<CryptoKey>;
  /** Digest of team, key id and public key. Distinguishes two keys with the same id. */
  readonly fingerprint: string;
  readonly keyFile: string;
  /** Bundle ids; `*` for any. */
  readonly topics: ReadonlySet<string> | '*';
  /** Whether the apps have Apple's filtering entitlement, which lets their extension suppress an alert. */
  readonly hasFilteringEntitlement: boolean;
}

/** Finds the app entry for a bundle id: first an entry that lists the id, then an entry for any id. */
export function findApnsApp(
  { apns }: { readonly apns: readonly ApnsApp[] },
  topic: string,
): ApnsApp | undefined {
  return (
    apns.find(({ topics }) => topics !== '*' && topics.has(topic)) ??
    apns.find(({ topics }) => topics === '*')
  );
}
