import type { Secret } from '@waxwing/service/config';
import type { CryptoKey } from 'jose';
import type { ServedRealms } from '../choose-app.js';

/** A Firebase project and the service account that sends for it. */
export interface FcmApp extends ServedRealms {
  readonly vendor: 'fcm';
  readonly projectId: string;
  readonly clientEmail: string;
  readonly privateKeyId: string;
  readonly privateKey: Secret<CryptoKey>;
  readonly tokenUri: string;
  /** Digest of account, key id, token endpoint and public key. Distinguishes two credentials. */
  readonly fingerprint: string;
  /** Message field that addresses phones that registered with a Firebase installation id. */
  readonly addressBy: 'token' | 'fid';
  /** Whether messages use Google's AndroidConfigV2 instead of AndroidConfig. */
  readonly usesAndroidV2: boolean;
  /** Path of the credential's file, for error messages. */
  readonly serviceAccountFile: string;
}
