import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '@waxwing/service/config';
import { afterAll, describe, expect, it } from 'vitest';
import { readApnsKey, readServiceAccount } from '#relay/deliveries/apps/read-credentials.js';

const dir = mkdtempSync(join(tmpdir(), 'waxwing-credentials-'));
afterAll(() => rmSync(dir, { recursive: true }));

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const ids = { teamId: 'TEAM123456', keyId: 'KEY1234567' };

/** Encodings in which programs save text files. */
const encodings: Readonly<Record<string, (text: string) => Buffer>> = {
  'in UTF-8': (text) => Buffer.from(text),
  'with a byte-order mark': (text) => Buffer.from(`\ufeff${text}`),
  "in PowerShell's UTF-16": (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'in big-endian UTF-16': (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
};

/** Ways in which programs change a key's line breaks. */
const lineBreaks: Readonly<Record<string, (pem: string) => string>> = {
  'LF line breaks': (pem) => pem,
  'CRLF line breaks': (pem) => pem.replaceAll('\n', '\r\n'),
  'CR line breaks': (pem) => pem.replaceAll('\n', '\r'),
  'no trailing line break': (pem) => pem.trimEnd(),
  'spaces for line breaks': (pem) => pem.replaceAll('\n', ' '),
  'no line breaks': (pem) => pem.replaceAll('\n', ''),
  'literal \\n': (pem) => pem.replaceAll('\n', '\\n'),
  'literal \\\\n': (pem) => pem.replaceAll('\n', '\\\\n'),
  'literal \\r\\n': (pem) => pem.replaceAll('\n', '\\r\\n'),
  'indented lines': (pem) => pem.replaceAll('\n', '\n    '),
  'surrounding quotes': (pem) => `"${pem.replaceAll('\n', '\\n')}"`,
  'text before the key': (pem) => `Bag Attributes\n    friendlyName: key\n${pem}`,
  'only the base64': (pem) => pem.replace(/-----[^-]+-----/g, ''),
};

const pemOf = (key: KeyObject, type: 'pkcs8' | 'pkcs1' | 'sec1') =>
  key.export({ type, format: 'pem' }).toString();
const ecParameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
const appleForms: Readonly<Record<string, string>> = {
  'PKCS #8': pemOf(ec, 'pkcs8'),
  'SEC 1': pemOf(ec, 'sec1'),
};
const googleForms: Readonly<Record<string, string>> = {
  'PKCS #8': pemOf(rsa, 'pkcs8'),
  'PKCS #1': pemOf(rsa, 'pkcs1'),
};

function combinations(forms: Readonly<Record<string, string>>) {
  return Object.entries(forms).flatMap(([form, pem]) =>
    Object.entries(lineBreaks).flatMap(([lines, change]) =>
      Object.entries(encodings).map(([encoding, encode]) => ({
        form,
        lines,
        encoding,
        text: change(pem),
        encode,
      })),
    ),
  );
}

let files = 0;

function write(content: string | Buffer): string {
  files += 1;
  const file = join(dir, `credential-${files}`);
  writeFileSync(file, content, { mode: 0o600 });
  return file;
}

const accountOf = (privateKey: string) => ({
  type: 'service_account',
  project_id: 'our-app',
  private_key_id: 'id',
  private_key: privateKey,
  client_email: 'sender@our-app.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
});

/** Returns the error message of the refusal, with the file's path replaced by `FILE`. */
async function refusal(read: (file: string) => Promise<unknown>, content: string | Buffer): Promise<string> {
  const file = write(content);
  try {
    await read(file);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message.replaceAll(file, 'FILE');
    throw error;
  }
  return 'taken';
}
const ofApple = (content: string | Buffer) => refusal((file) => readApnsKey(file, ids), content);
const ofGoogle = (content: string | Buffer) => refusal(readServiceAccount, content);

describe('a valid APNs key', () => {
  it('is accepted after the parameters that openssl ecparam writes', async () => {
    const plain = await readApnsKey(write(pemOf(ec, 'pkcs8')), ids);
    const key = await readApnsKey(write(ecParameters + pemOf(ec, 'sec1')), ids);
    expect(key.fingerprint).toBe(plain.fingerprint);
  });

  it.each(combinations(appleForms))(
    'is accepted in $form, $encoding, with $lines',
    async ({ text, encode }) => {
      const plain = await readApnsKey(write(pemOf(ec, 'pkcs8')), ids);
      expect((await readApnsKey(write(encode(text)), ids)).fingerprint).toBe(plain.fingerprint);
    },
  );
});

describe('a valid key of a service account', () => {
  it.each(combinations(googleForms))(
    'is accepted in $form, $encoding, with $lines',
    async ({ text, encode }) => {
      const plain = await readServiceAccount(write(JSON.stringify(accountOf(pemOf(rsa, 'pkcs8')))));
      const read = await readServiceAccount(write(encode(JSON.stringify(accountOf(text), null, 2))));
      expect(read).toMatchObject({ projectId: 'our-app', fingerprint: plain.fingerprint });
    },
  );
});

const aes = { cipher: 'aes-256-cbc', passphrase: 'correct horse' } as const;
const locked = (key: KeyObject, type: 'pkcs8' | 'pkcs1' | 'sec1') =>
  key.export({ type, format: 'pem', ...aes }).toString();
const withItsLabel = ({ lines }: { lines: string }) => lines !== 'only the base64';

describe('a key with a passphrase', () => {
  const sentence =
    'has a passphrase, which the relay cannot request: remove the passphrase with openssl pkcs8 -topk8 -nocrypt.';

  it.each(combinations({ 'PKCS #8': locked(ec, 'pkcs8'), 'SEC 1': locked(ec, 'sec1') }).filter(withItsLabel))(
    'is rejected for Apple with a remedy ($form, $encoding, with $lines)',
    async ({ text, encode }) => {
      expect(await ofApple(encode(text))).toBe(`The file FILE ${sentence}`);
    },
  );

  it.each(
    combinations({ 'PKCS #8': locked(rsa, 'pkcs8'), 'PKCS #1': locked(rsa, 'pkcs1') }).filter(withItsLabel),
  )('is rejected for Google with a remedy ($form, $encoding, with $lines)', async ({ text, encode }) => {
    const account = JSON.stringify(accountOf(text));
    expect(await ofGoogle(encode(account))).toBe(`The private_key in FILE ${sentence}`);
  });
});

const apple =
  'use the .p8 file of an APNs key (developer.apple.com, Certificates, Identifiers & Profiles, Keys).';
const google =
  'download a key of the service account as JSON (Firebase console, Project settings, Service accounts, Generate new private key).';
const shortRsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
const ofCurve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;

describe('a key of the wrong type or size', () => {
  it.each<[string, string]>([
    [pemOf(rsa, 'pkcs8'), 'is an RSA key of 2048 bits'],
    [pemOf(rsa, 'pkcs1'), 'is an RSA key of 2048 bits'],
    [pemOf(ofCurve('P-384'), 'sec1'), 'is an EC key of the curve secp384r1'],
    [pemOf(ofCurve('secp256k1'), 'pkcs8'), 'is an EC key of the curve secp256k1'],
    [pemOf(ed25519, 'pkcs8'), 'is a key of the type ed25519'],
  ])('is rejected for Apple, and its type is named (%#)', async (pem, kind) => {
    expect(await ofApple(pem)).toBe(`The file FILE ${kind}, and Apple's are EC keys of P-256: ${apple}`);
  });

  it.each<[string, string]>([
    [pemOf(shortRsa, 'pkcs8'), 'is an RSA key of 1024 bits'],
    [pemOf(shortRsa, 'pkcs1'), 'is an RSA key of 1024 bits'],
    [pemOf(ec, 'sec1'), 'is an EC key of the curve prime256v1'],
    [pemOf(ed25519, 'pkcs8'), 'is a key of the type ed25519'],
  ])('is rejected for Google, and its type is named (%#)', async (pem, kind) => {
    expect(await ofGoogle(JSON.stringify(accountOf(pem)))).toBe(
      `The private_key in FILE ${kind}, and Google's are RSA keys of at least 2048 bits: ${google}`,
    );
  });
});

const certificate = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const publicKey = '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n';
const sshKey = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk=\n-----END OPENSSH PRIVATE KEY-----\n';
const wrongFiles: readonly (readonly [content: string | Buffer, name: string])[] = [
  ['', 'empty'],
  ['\n \n', 'empty'],
  [
    JSON.stringify({ project_info: { project_id: 'x' }, client: [] }),
    "the Android app's own google-services.json",
  ],
  [
    '<?xml version="1.0"?>\n<!DOCTYPE plist>\n<plist version="1.0"></plist>',
    "a property list such as the iOS app's own GoogleService-Info.plist",
  ],
  [
    JSON.stringify({ apiKey: 'x', authDomain: 'y', projectId: 'z' }),
    "a web app's own Firebase configuration",
  ],
  [
    'const firebaseConfig = {\n  apiKey: "x",\n  projectId: "z"\n};',
    "a web app's own Firebase configuration",
  ],
  [JSON.stringify({ installed: { client_id: 'x' } }), 'an OAuth client file'],
  [JSON.stringify({ web: { client_id: 'x' } }), 'an OAuth client file'],
  [JSON.stringify({ type: 'authorized_user' }), 'the login of a person (application default credentials)'],
  [JSON.stringify({ type: 'external_account' }), 'a configuration of workload identity federation'],
  [JSON.stringify({ apns: [] }), 'an apps file'],
  [certificate, 'a certificate'],
  [certificate.replaceAll('CERTIFICATE', 'CERTIFICATE REQUEST'), 'a certificate request'],
  [publicKey, 'a public key'],
  [sshKey, 'an SSH key'],
  [Buffer.from([0x30, 0x82, 0x0b, 0, 0xff, 0xfe, 2]), 'a binary file such as a .p12 or .cer'],
  [
    Buffer.concat([
      Buffer.from([0x30, 0x82, 0x0b, 0, 0xff, 0xfe, 2]),
      Buffer.from('<?xml version="1.0"?>\n<!DOCTYPE plist>\n<plist version="1.0"></plist>'),
    ]),
    'a provisioning profile',
  ],
  ['-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ\n-----END PGP PRIVATE KEY BLOCK-----', 'an OpenPGP file'],
  ['-----BEGIN PGP MESSAGE-----\n\nhQ\n-----END PGP MESSAGE-----', 'an OpenPGP file'],
  ['PuTTY-User-Key-File-3: ecdsa-sha2-nistp256\nEncryption: none', 'an SSH key'],
  ['-----BEGIN PKCS7-----\nMIIB\n-----END PKCS7-----', 'a chain of certificates'],
  ['<!doctype html><title>Sign in</title>', 'a web page'],
  ['{\\rtf1\\ansi -----BEGIN PRIVATE KEY-----}', 'a word processor document'],
  ['AAAAx1:APA91bF-x_y', "a key of FCM's legacy API"],
  // Keys in base64, as in the manifest of a Kubernetes secret.
  ...[
    pemOf(ec, 'pkcs8'),
    JSON.stringify(accountOf(pemOf(rsa, 'pkcs8'))),
    JSON.stringify(accountOf('x'), null, 2),
    JSON.stringify(accountOf('x'), null, 2).replaceAll('\n', '\r\n'),
  ].flatMap((text) => {
    const whole = Buffer.from(text).toString('base64');
    const lines = whole.replace(/.{76}/g, '$&\n');
    return [whole, lines].map(
      (each) => [each, 'still encoded in base64 (decode it with base64 -d)'] as const,
    );
  }),
];

describe('a wrong file', () => {
  it.each([...wrongFiles, [JSON.stringify(accountOf('x')), 'the key of a Google service account'] as const])(
    'is recognized instead of an APNs key: %j is %s',
    async (content, name) => {
      expect(await ofApple(content)).toBe(`The file FILE is ${name}, not an APNs key: ${apple}`);
    },
  );

  it.each([...wrongFiles, [pemOf(ec, 'pkcs8'), 'only a private key'] as const])(
    'is recognized instead of a service account: %j is %s',
    async (content, name) => {
      expect(await ofGoogle(content)).toBe(
        `The file FILE is ${name}, not the key of a Google service account: ${google}`,
      );
    },
  );

  it('is rejected with its missing parts if it is not recognized', async () => {
    expect(await ofApple('hello')).toBe(`The file FILE contains no private key: ${apple}`);
    expect(await ofGoogle('{"type":"service_account"}')).toBe(
      `The file FILE is not a Google service account (missing or wrong: project_id, private_key_id, private_key, client_email, token_uri): ${google}`,
    );
    expect(await ofGoogle('[]')).toContain('is not a Google service account (missing or wrong: its form)');
    expect(await ofGoogle(JSON.stringify({ ...accountOf(publicKey) }))).toBe(
      `The private_key in FILE is a public key, not a private key: ${google}`,
    );
  });
});

describe('a damaged key', () => {
  const pem = pemOf(ec, 'pkcs8');

  it('is distinguished from a truncated key', async () => {
    expect(await ofApple(pem.slice(0, 150))).toBe(`The file FILE is cut off: ${apple}`);
    expect(await ofApple(pem.replace(/\nM.{20}/, '\n????'))).toBe(`The file FILE is damaged: ${apple}`);
  });

  it.each([pem, pemOf(ec, 'sec1')])(
    'is accepted or rejected with a remedy, whichever character changes (%#)',
    async (whole) => {
      const answers = new Set<string>();
      for (let at = 28; at < whole.length - 30; at += 1) {
        const other = whole[at] === 'A' ? 'Q' : 'A';
        answers.add(await ofApple(whole.slice(0, at) + other + whole.slice(at + 1)));
      }
      const damaged = `The file FILE is damaged: ${apple}`;
      for (const answer of answers) expect(answer).toMatch(/^(?:taken|The file FILE is .+: use the .p8)/);
      expect(answers).toContain(damaged);
    },
  );
});
