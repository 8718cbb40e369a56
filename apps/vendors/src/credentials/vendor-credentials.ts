import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  randomInt,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileExists, makePrivateFolder, readPrivateFile } from '@waxwing/service/config';
import { createCredentialFile, replaceCredentialFile } from './credential-file.js';
import { makeTlsIdentity, type TlsIdentity } from './make-certificate.js';

/** The vendors' side of the credentials: the issued ids, and the public keys that verify clients. */
export interface VendorCredentials {
  readonly fcm: {
    readonly projectId: string;
    readonly clientEmail: string;
    readonly privateKeyId: string;
    readonly publicKey: KeyObject;
  };
  readonly apns: { readonly teamId: string; readonly keyId: string; readonly publicKey: KeyObject };
  readonly tls: TlsIdentity;
}

/** Paths of the files that an operator would get from Google and Apple, and of the CA certificate. */
export interface CredentialFiles {
  readonly serviceAccountFile: string;
  readonly apnsKeyFile: string;
  readonly caFile: string;
}

/**
 * Content of the master file. All other files are derived from it, so a crash between two writes cannot make them
 * inconsistent.
 */
interface StoredIdentity {
  readonly fcm: {
    readonly project_id: string;
    readonly private_key_id: string;
    readonly private_key: string;
    readonly client_email: string;
    readonly client_id: string;
  };
  readonly apns: { readonly team_id: string; readonly key_id: string; readonly private_key: string };
  readonly tls: TlsIdentity;
}

const generateKeyPairAsync = promisify(generateKeyPair);

export class CredentialStore {
  readonly credentials: VendorCredentials;
  readonly #dataDir: string;
  readonly #identity: StoredIdentity;

  private constructor(dataDir: string, identity: StoredIdentity) {
    this.#dataDir = dataDir;
    this.#identity = identity;
    const { fcm, apns, tls } = identity;
    this.credentials = {
      fcm: {
        projectId: fcm.project_id,
        clientEmail: fcm.client_email,
        privateKeyId: fcm.private_key_id,
        publicKey: createPublicKey(createPrivateKey(fcm.private_key)),
      },
      apns: {
        teamId: apns.team_id,
        keyId: apns.key_id,
        publicKey: createPublicKey(createPrivateKey(apns.private_key)),
      },
      tls,
    };
  }

  /**
   * Opens the credentials in a data directory. Creates the directory (mode 0700) and the credentials if they are
   * missing. If the certificate does not cover `host`, renews only the TLS identity.
   * @throws Error if the stored credentials cannot be read.
   */
  static async open(dataDir: string, host: string): Promise<CredentialStore> {
    makePrivateFolder(dataDir);
    const path = join(dataDir, 'vendors.json');
    let identity = await readIdentity(path);
    if (identity === undefined) {
      await createCredentialFile(path, formatJson(await makeIdentity(host)));
      identity = await readIdentity(path);
    } else if (!isCovered(identity.tls.certificate, host)) {
      identity = { ...identity, tls: await makeTlsIdentity(certificateHosts(host)) };
      await replaceCredentialFile(path, formatJson(identity));
    }
    if (identity === undefined) throw new Error(`${path} disappeared while it was being read: start again.`);
    return new CredentialStore(dataDir, identity);
  }

  /**
   * Writes the credential files (mode 0600) that an operator gives to a sender. `tokenUri` is the URL of the token
   * endpoint.
   */
  async writeOperatorFiles(tokenUri: string): Promise<CredentialFiles> {
    const { fcm, apns, tls } = this.#identity;
    const files = {
      serviceAccountFile: join(this.#dataDir, 'fcm-service-account.json'),
      apnsKeyFile: join(this.#dataDir, `AuthKey_${apns.key_id}.p8`),
      caFile: join(this.#dataDir, 'apns-ca.pem'),
    };
    const serviceAccount = { type: 'service_account', ...fcm, token_uri: tokenUri };
    await replaceCredentialFile(files.serviceAccountFile, formatJson(serviceAccount));
    await replaceCredentialFile(files.apnsKeyFile, apns.private_key);
    await replaceCredentialFile(files.caFile, tls.ca);
    return files;
  }
}

async function readIdentity(path: string): Promise<StoredIdentity | undefined> {
  if (!(await fileExists(path))) return undefined;
  const text = await readPrivateFile(path, "the vendors' credentials");
  try {
    const identity = JSON.parse(text) as StoredIdentity;
    createPrivateKey(identity.fcm.private_key);
    createPrivateKey(identity.apns.private_key);
    new X509Certificate(identity.tls.certificate);
    return identity;
  } catch (error) {
    throw new Error(`${path} does not contain the vendors' credentials: delete it to create new ones.`, {
      cause: error,
    });
  }
}

async function makeIdentity(host: string): Promise<StoredIdentity> {
  const rsa = await generateKeyPairAsync('rsa', { modulusLength: 2048 });
  const ec = await generateKeyPairAsync('ec', { namedCurve: 'P-256' });
  const projectId = `waxwing-${randomText(6, 'abcdefghijklmnopqrstuvwxyz0123456789')}`;
  return {
    fcm: {
      project_id: projectId,
      private_key_id: randomBytes(20).toString('hex'),
      private_key: exportPrivateKey(rsa.privateKey),
      client_email: `firebase-adminsdk@${projectId}.iam.gserviceaccount.com`,
      client_id: `1${randomText(20, '0123456789')}`,
    },
    apns: {
      team_id: randomText(10, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'),
      key_id: randomText(10, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'),
      private_key: exportPrivateKey(ec.privateKey),
    },
    tls: await makeTlsIdentity(certificateHosts(host)),
  };
}

function certificateHosts(host: string): string[] {
  return [...new Set(['localhost', '127.0.0.1', '::1', ...(isWildcard(host) ? [] : [host])])];
}

function isCovered(certificate: string, host: string): boolean {
  if (isWildcard(host)) return true;
  const parsed = new X509Certificate(certificate);
  return (isIP(host) === 0 ? parsed.checkHost(host) : parsed.checkIP(host)) !== undefined;
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

function exportPrivateKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function randomText(length: number, alphabet: string): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

function formatJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
