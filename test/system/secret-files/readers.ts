import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { encodeBase64 } from '@waxwing/protocol';
import { readEnvironmentFile } from '@waxwing/service/config';
import { AdminToken } from '@waxwing/service/dashboard';
import { openDatabase } from '@waxwing/storage';
import { generateX25519Identity } from 'age-encryption';
import { readAppsFile } from '#relay/deliveries/apps/read-apps-file.js';
import { readRecoveryKey } from '#relay/keyring/commands/key-files.js';
import { openKeyRingCipher } from '#relay/keyring/storage/key-ring-cipher.js';
import { keyRingFile } from '#relay/keyring/storage/key-ring-file.js';
import { openFileStore } from '#server/content/uploads/file-store/open-file-store.js';
import { adminNames } from '#server/push/admin-names.js';
import { readRelayKey } from '#server-push/settings/read-relay-key.js';
import { readSecretKey } from '#server-push/settings/read-secret-key.js';
import { CredentialStore } from '#vendors/credentials/vendor-credentials.js';
import { keyTerminal } from '../../apps/relay/keyring/key-terminal.js';
import { sodium } from '../../apps/relay/keyring/ring-material.js';

/** A program's reader for one kind of secret file. */
export interface SecretFileReader {
  /** Content that the reader accepts. */
  readonly content: string;
  /** Required file name. Default: any. */
  readonly name?: string;
  /** Whether the program writes the file itself. If so, its mode must be 0600 or stricter for any owner. */
  readonly isWrittenByProgram?: boolean;
  /** Whether the reader rejects links, including links of the same user. */
  readonly takesNoLinks?: boolean;
  /** Uses the file. Resolves when done, or rejects with the error message that the operator sees. */
  read(path: string): Promise<unknown>;
}

function pem(type: 'rsa' | 'ec'): string {
  const { privateKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

const serviceAccount = {
  type: 'service_account',
  project_id: 'an-app',
  private_key_id: '1',
  private_key: pem('rsa'),
  client_email: 'a@an-app.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
};
const apnsEntry = { team_id: 'TEAM123456', key_id: 'KEY1234567', topics: '*' };
const apart = mkdtempSync(join(tmpdir(), 'waxwing-apps-'));
writeFileSync(join(apart, 'account.json'), JSON.stringify(serviceAccount), { mode: 0o600 });

function appsFile(name: string, apps: object): string {
  const path = join(apart, name);
  writeFileSync(path, JSON.stringify(apps), { mode: 0o600 });
  return path;
}

function plainKeys(): string {
  const { publicKey, privateKey } = sodium.generateKeyPair();
  return JSON.stringify({ [encodeBase64(publicKey)]: encodeBase64(privateKey) });
}

const openingOptions = { migrations: [], role: 'visiting', onError: () => undefined } as const;

async function open(url: string): Promise<void> {
  await (await openDatabase({ url, ...openingOptions })).close();
}

/** All readers of secret files in this repository's programs. */
export const secretFileReaders: Readonly<Record<string, SecretFileReader>> = {
  'the key ring': {
    content: 'a ring',
    isWrittenByProgram: true,
    takesNoLinks: true,
    read: (path) => keyRingFile(path).read(),
  },
  "the ring's identity": {
    content: `${await generateX25519Identity()}\n`,
    read: (path) => openKeyRingCipher({ kind: 'identity', path }),
  },
  "the ring's passphrase": {
    content: 'six words that are long enough\n',
    read: (path) => openKeyRingCipher({ kind: 'passphrase', path }),
  },
  'the recovery key': { content: 'AAAA\n', read: readRecoveryKey },
  'keys to import': {
    content: plainKeys(),
    async read(path) {
      const { error } = await keyTerminal().run('import', path, '--dry-run');
      if (error !== undefined) throw new Error(error);
    },
  },
  'the token of a dashboard': { content: `${'a1'.repeat(32)}\n`, read: AdminToken.open },
  'an environment file with a secret': {
    content: 'SERVER_DATABASE=postgres://me:hunter2@db.example/waxwing\n',
    read: readEnvironmentFile,
  },
  "the server's key": {
    content: 'a-key\n',
    read: (serverKeyFile) =>
      readRelayKey(
        { kind: 'configured', url: 'https://relay.example', serverId: 'x', serverKeyFile },
        adminNames,
      ),
  },
  "the key of the secrets in the server's database": {
    content: `${'0a'.repeat(32)}\n`,
    read: (keyFile) => readSecretKey({ keyFile, allowsPlainHttp: false }, adminNames),
  },
  'the apps file': {
    content: JSON.stringify({ fcm: [{ service_account_file: join(apart, 'account.json') }] }),
    read: readAppsFile,
  },
  'an FCM service account': {
    content: JSON.stringify(serviceAccount),
    read: (path) => readAppsFile(appsFile('fcm.json', { fcm: [{ service_account_file: path }] })),
  },
  'an APNs key': {
    content: pem('ec'),
    read: (path) => readAppsFile(appsFile('apns.json', { apns: [{ ...apnsEntry, key_file: path }] })),
  },
  "the file store's secret key": {
    content: 'a key\n',
    read: (secretKeyFile) =>
      openFileStore({
        store: {
          kind: 's3',
          bucket: 'b',
          region: 'r',
          endpoint: 'http://127.0.0.1:9',
          accessKeyId: 'a',
          secretKeyFile,
        },
        quotaBytes: undefined,
      }),
  },
  'a SQLite database': {
    content: '',
    isWrittenByProgram: true,
    read: (path) => open(`sqlite:${path}`),
  },
  "the database URL's private key": {
    content: pem('ec'),
    async read(path) {
      const url = `postgres://a@127.0.0.1:9/a?sslmode=verify-full&sslkey=${encodeURIComponent(path)}`;
      // The error of the driver is ignored: when it fails to connect, it has already read the key.
      await open(url).catch((error: Error) => {
        if (!error.message.includes('nothing listens there')) throw error;
      });
    },
  },
  "the vendors' credentials": {
    content: await vendorCredentials(),
    name: 'vendors.json',
    read: (path) => CredentialStore.open(dirname(path), '127.0.0.1'),
  },
};

async function vendorCredentials(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-vendors-'));
  await CredentialStore.open(folder, '127.0.0.1');
  return readFileSync(join(folder, 'vendors.json'), 'utf8');
}
