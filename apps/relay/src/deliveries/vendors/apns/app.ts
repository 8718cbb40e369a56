import type { Secret } from '@waxwing/service/config';
import type { CryptoKey } from 'jose';

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

/** The team's key that serves a bundle id: one that names it, else one that serves any; `undefined` for none. */
export function findApnsApp(
  { apns }: { readonly apns: readonly ApnsApp[] },
  topic: string,
): ApnsApp | undefined {
  return (
    apns.find(({ topics }) => topics !== '*' && topics.has(topic)) ??
    apns.find(({ topics }) => topics === '*')
  );
}
