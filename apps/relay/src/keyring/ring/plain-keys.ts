import { decodeBase64, lineOfJsonMistake, parseWithMessages } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import type { Sodium } from '@waxwing/sodium';
import { z } from 'zod';
import { checkKeyPair } from './check-key-ring.js';
import type { BouncerPublicKey } from './key-ring.js';
import type { ImportedKey } from './key-ring-transitions.js';

/** Keys from an unencrypted file. `primary` is the public key of the primary key, if the file names one. */
export interface PlainKeys {
  readonly keys: readonly ImportedKey[];
  readonly primary: string | undefined;
}

const keyText = z.string().refine((text) => decodeBase64(text)?.length === 32, 'must be 32 bytes in base64');
const instant = z.iso.datetime('must be an instant such as 2026-01-31T00:00:00Z').transform(Date.parse);

const ownForm = z.strictObject({
  version: z.literal(1),
  comment: z.string().optional(),
  keys: z
    .array(
      z.strictObject({
        public_key: keyText,
        private_key: keyText,
        state: z.enum(['primary', 'accepted']),
        created_at: instant.optional(),
        accepted_until: instant.optional(),
      }),
    )
    .nonempty('must contain at least one key'),
});

// Format of a stock relay's secrets: a map from public keys to private keys, oldest first, without states or dates.
const stockForm = z.record(keyText, keyText);

/**
 * Parses unencrypted keys: the format of `keys.example`, or a stock relay's `{public: private}` map.
 * @throws CommandError with a sentence that names the problem without quoting a secret.
 */
export function parsePlainKeys(text: string, sodium: Sodium): PlainKeys {
  const json = parseObject(text);
  const plain = Object.hasOwn(json, 'keys') ? readOwnForm(json) : readStockForm(json);
  for (const { publicKey, privateKey } of plain.keys) {
    const problem = checkKeyPair({ publicKey, privateKey: privateKey.reveal() }, sodium);
    if (problem !== undefined) throw new CommandError(problem);
  }
  const publicKeys = new Set(plain.keys.map(({ publicKey }) => publicKey));
  if (publicKeys.size < plain.keys.length)
    throw new CommandError('The file contains a key twice: remove one of the two.');
  return plain;
}

function readOwnForm(json: object): PlainKeys {
  const { keys } = parseForm(ownForm, json);
  const primaries = keys.filter(({ state }) => state === 'primary');
  if (primaries.length > 1) {
    throw new CommandError(`The file has ${primaries.length} primary keys: mark all but one as accepted.`);
  }
  return {
    keys: keys.map((key) => ({
      publicKey: key.public_key as BouncerPublicKey,
      privateKey: concealed(key.private_key),
      createdAt: key.created_at,
      acceptedUntil: key.accepted_until,
    })),
    primary: primaries[0]?.public_key,
  };
}

function readStockForm(json: object): PlainKeys {
  const pairs = Object.entries(parseForm(stockForm, json));
  if (pairs.length === 0) throw new CommandError('The file contains no key.');
  const keys = pairs.map(([publicKey, privateKey]) => ({
    publicKey: publicKey as BouncerPublicKey,
    privateKey: concealed(privateKey),
    createdAt: undefined,
    acceptedUntil: undefined,
  }));
  return { keys, primary: pairs.length === 1 ? keys[0]?.publicKey : undefined };
}

function parseForm<S extends z.ZodType>(form: S, json: object): z.infer<S> {
  const parsed = parseWithMessages(form, json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  // In a stock relay's map the path is the public key itself, which is not secret.
  const place = issue?.path.join('.') || 'its top level';
  throw new CommandError(`The file does not have the format of keys.example: ${place} ${issue?.message}.`);
}

function parseObject(text: string): object {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The JSON parser's own message quotes the text, which contains private keys.
    throw new CommandError(
      `The file is not JSON from line ${lineOfJsonMistake(text)} on: keys.example shows the format.`,
    );
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new CommandError('The file is not a JSON object: keys.example shows the format.');
  }
  return json;
}

function concealed(base64: string): Secret<Uint8Array> {
  // A separate ArrayBuffer, because Node's buffer pool and V8's heap would keep a copy of the key.
  const bytes = new ArrayBuffer(32);
  Buffer.from(bytes).write(base64, 'base64');
  return new Secret(new Uint8Array(bytes));
}
