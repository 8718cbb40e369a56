import { ProtocolError } from '@waxwing/protocol';
import { removePushDevicesOf } from '@waxwing/server-push';
import { hashCredential, Secret } from '@waxwing/service/config';
import { anyone, operation } from '@waxwing/service/http';
import { lockingRows } from '@waxwing/storage';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { textOfAtMost } from '../../people/realm/setting-shapes.js';
import { maximumAddressCharacters } from '../../people/users/email-address.js';
import { generateApiKey } from '../../platform/authentication/api-key.js';
import { passwordLength } from '../../platform/authentication/password-hash.js';
import { hasPasswordHash } from '../../platform/authentication/password-store.js';
import { forgetSignInFailures } from '../../platform/authentication/sign-in-failure-store.js';
import { insertSignInKey } from '../../platform/authentication/sign-in-key-store.js';
import { provePassword, type VerifiedUser } from './prove-password.js';

/**
 * `POST /api/v1/fetch_api_key`: issues an additional API key for a person's email address and password. If the person
 * has the maximum number of keys, evicts the oldest key and removes the phones that registered with it. Errors:
 * AUTHENTICATION_FAILED for an unknown name, a person without a password and a wrong password, which clients cannot
 * distinguish by response or time; USER_DEACTIVATED for a deactivated user with the correct password; RATE_LIMIT_HIT
 * for a name or address with too many failures, and for a client with too many attempts in the queue.
 */
export const fetchApiKey = operation({
  method: 'POST',
  path: '/api/v1/fetch_api_key',
  summary: 'Issues an API key for an e-mail address and password.',
  actor: anyone,
  parameters: z.object({
    username: textOfAtMost(maximumAddressCharacters),
    password: textOfAtMost(passwordLength.maximum).transform((text) => new Secret(text)),
  }),
  answer: z.object({ api_key: z.string(), email: z.string(), user_id: z.number().int() }),
  codes: ['AUTHENTICATION_FAILED', 'USER_DEACTIVATED', 'RATE_LIMIT_HIT'],
  // Password checks wait in a bounded queue.
  waitsForOthers: true,
  async handle(context: ServerContext, { head, parameters, signal }) {
    const { username: name, password } = parameters;
    const holder = await provePassword(context, { name, password, address: head.address, signal });
    const apiKey = await giveKey(context, holder, name);
    head.setActor(`user ${holder.id}`);
    return { api_key: apiKey.reveal(), email: holder.email, user_id: holder.id };
  },
});

/** Issues a key, unless the person was deactivated or the password was replaced in the meantime. */
async function giveKey(
  context: ServerContext,
  { id, passwordHash }: VerifiedUser,
  name: string,
): Promise<Secret<string>> {
  const { clock, database } = context;
  const apiKey = generateApiKey();
  const keyHash = hashCredential(apiKey.reveal());
  const isGiven = await database.write(async (transaction) => {
    const { db } = transaction;
    const active = await db
      .selectFrom('users')
      .select('id')
      .where('id', '=', id)
      .where('is_active', '=', 1)
      .modifyEnd(lockingRows(db))
      .executeTakeFirst();
    if (active === undefined || !(await hasPasswordHash(db, id, passwordHash))) return false;
    const evicted = await insertSignInKey(db, id, keyHash, clock());
    // Without the evicted key, a phone could neither fetch the messages of its notifications nor sign out.
    if (evicted.length > 0) await removePushDevicesOf(context, transaction, id, evicted);
    await forgetSignInFailures(transaction, name);
    return true;
  });
  if (!isGiven) throw new ProtocolError('AUTHENTICATION_FAILED');
  return apiKey;
}
