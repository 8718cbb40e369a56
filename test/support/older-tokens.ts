import { createCipheriv, createHmac, randomBytes } from 'node:crypto';
import type { RelayDeviceId } from '@waxwing/protocol';
import type { TokenKey } from '#relay/keyring/key-ring.js';
import { placeOfToken, type TokenRow } from '#relay/registrations/token-vault.js';
import type { RelayDatabase } from '#relay/tables.js';

/** A token as relays stored it before tokens were bound to their rows. */
export function sealUnbound(token: string, key: TokenKey): string {
  return `${key.id}:${sealAes(token, key, key.id)}`;
}

/** A token as relays stored it when it was bound to its row by AES-256-GCM. */
export function sealBoundByAes(token: string, key: TokenKey, place: string): string {
  return `${key.id}:2:${sealAes(token, key, `${key.id}:2:${place}`)}`;
}

/** What a row with such a token was found by. */
export function lookupByHmac(token: string, { lookupKey }: TokenKey): string {
  return createHmac('sha256', lookupKey.reveal()).update(token, 'utf8').digest('base64');
}

export interface OlderRow extends TokenRow {
  readonly token: string;
}

/** Puts a stored device's row into the form that relays wrote before libsodium kept tokens at rest; answers what changed. */
export async function storeByAes(
  { db }: RelayDatabase,
  id: RelayDeviceId,
  token: string,
  key: TokenKey,
): Promise<OlderRow> {
  const devices = db.selectFrom('relay_devices').where('id', '=', id);
  const row = await devices.select(['realm_id', 'push_account_id']).executeTakeFirstOrThrow();
  const older = { ...row, token_lookup: lookupByHmac(token, key) };
  const changed = {
    token_lookup: older.token_lookup,
    token: sealBoundByAes(token, key, placeOfToken(older)),
  };
  await db.updateTable('relay_devices').set(changed).where('id', '=', id).execute();
  return { ...row, ...changed };
}

function sealAes(token: string, { encryptionKey }: TokenKey, additionalData: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', encryptionKey.reveal(), nonce);
  cipher.setAAD(Buffer.from(additionalData));
  const sealed = [nonce, cipher.update(token, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(sealed).toString('base64');
}
