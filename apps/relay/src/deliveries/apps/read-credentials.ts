import { createHash } from 'node:crypto';
import { type JsonValue, parseJson } from '@waxwing/protocol';
import { ConfigurationError, readPrivateFile } from '@waxwing/service/config';
import { z } from 'zod';
import type { ApnsApp } from '../vendors/apns/app.js';
import type { FcmApp } from '../vendors/fcm/app.js';
import { describeJsonMistake } from './describe-shape.js';
import { googleAccount, recognizeFile } from './recognize-file.js';
import { readSigningKey, type SigningAlgorithm, type SigningKey } from './signing-key.js';

export type ServiceAccount = Pick<
  FcmApp,
  'projectId' | 'clientEmail' | 'privateKeyId' | 'privateKey' | 'tokenUri' | 'fingerprint'
>;

// File format: https://cloud.google.com/iam/docs/keys-create-delete
const serviceAccount = z.object({
  type: z.literal('service_account'),
  project_id: z.string().min(1),
  private_key_id: z.string().min(1),
  private_key: z.string().min(1),
  client_email: z.string().min(1),
  token_uri: z.url({ protocol: /^https?$/ }),
});

const googleRemedy =
  'download a key of the service account as JSON (Firebase console, Project settings, Service accounts, Generate new private key)';
const appleRemedy =
  'use the .p8 file of an APNs key (developer.apple.com, Certificates, Identifiers & Profiles, Keys)';

/**
 * Reads a Google service account. `given` is the path as written in the apps file.
 * @throws ConfigurationError if the file is unsafe, is not a service account, or has no usable key.
 */
export async function readServiceAccount(file: string, given = file): Promise<ServiceAccount> {
  const text = await readPrivateFile(file, 'a Google service account', { given });
  const account = serviceAccount.safeParse(parseAccount(file, text));
  if (!account.success) {
    const fields = account.error.issues.map((issue) => issue.path.join('.') || 'its form').join(', ');
    throw new ConfigurationError([
      `The file ${file} is not a Google service account (missing or wrong: ${fields}): ${googleRemedy}.`,
    ]);
  }
  const { client_email, private_key, private_key_id, project_id, token_uri } = account.data;
  const key = await readKey(private_key, {
    subject: `The private_key in ${file}`,
    wanted: 'a private key',
    algorithm: 'RS256',
    remedy: googleRemedy,
  });
  return {
    projectId: project_id,
    clientEmail: client_email,
    privateKeyId: private_key_id,
    privateKey: key.privateKey,
    tokenUri: token_uri,
    fingerprint: fingerprintOf(key, [client_email, private_key_id, token_uri]),
  };
}

/**
 * Reads an APNs key. `given` is the path as written in the apps file.
 * @throws ConfigurationError if the file is unsafe or has no usable key.
 */
export async function readApnsKey(
  file: string,
  { teamId, keyId }: Pick<ApnsApp, 'teamId' | 'keyId'>,
  given = file,
): Promise<Pick<ApnsApp, 'privateKey' | 'fingerprint'>> {
  const text = await readPrivateFile(file, 'an APNs signing key', { given });
  const key = await readKey(text, {
    subject: `The file ${file}`,
    wanted: 'an APNs key',
    algorithm: 'ES256',
    remedy: appleRemedy,
  });
  return { privateKey: key.privateKey, fingerprint: fingerprintOf(key, [teamId, keyId]) };
}

function parseAccount(file: string, text: string): JsonValue {
  const foreign = recognizeFile(text);
  if (foreign !== undefined && foreign !== googleAccount) {
    throw new ConfigurationError([`The file ${file} is ${foreign}, not ${googleAccount}: ${googleRemedy}.`]);
  }
  // `echo` or a template may have turned `\n` into line breaks, which JSON does not allow inside a string.
  const mended = text.replace(/"-----BEGIN[^"]*"/, (pem) => pem.replace(/\r\n?|\n/g, '\\n'));
  try {
    return parseJson(mended);
  } catch {
    throw new ConfigurationError([`The file ${file} ${describeJsonMistake(text)}`]);
  }
}

interface KeyQuestion {
  /** Start of the error message; names the location of the key. */
  readonly subject: string;
  readonly wanted: string;
  readonly algorithm: SigningAlgorithm;
  readonly remedy: string;
}

async function readKey(
  text: string,
  { subject, wanted, algorithm, remedy }: KeyQuestion,
): Promise<SigningKey> {
  const found = await readSigningKey(text, algorithm);
  if (found !== undefined && 'privateKey' in found) return found;
  if (found !== undefined) {
    throw new ConfigurationError([`${subject} ${found.problem}: ${found.remedy ?? remedy}.`]);
  }
  const foreign = recognizeFile(text);
  const problem = foreign === undefined ? 'contains no private key' : `is ${foreign}, not ${wanted}`;
  throw new ConfigurationError([`${subject} ${problem}: ${remedy}.`]);
}

function fingerprintOf({ publicKey }: SigningKey, names: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(names)).update(publicKey).digest('hex');
}
