import type { UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import { roles } from '../../platform/authentication/roles.js';
import { nameKey } from '../../platform/names/name-key.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';

/** The bots that send the server's own messages: name in the database -> display name. */
const systemBots = { 'notification-bot': 'Notification Bot', 'welcome-bot': 'Welcome Bot' } as const;

export type SystemBotName = keyof typeof systemBots;

export const systemBotNames = Object.keys(systemBots) as SystemBotName[];

/**
 * The domain of the system bots' addresses. No mail server can have this domain (RFC 6761), and `isReservedAddress`
 * prevents users from using it.
 */
export const systemBotAddressDomain = 'system.invalid';

/** Returns the id of a system bot, and creates the bot on first use. System bots cannot sign in. */
export async function systemBotId({ db }: ServerTransaction, name: SystemBotName): Promise<UserId> {
  await makeBots(db, [name]);
  const { id } = await db
    .selectFrom('users')
    .select('id')
    .where('system_bot', '=', name)
    .executeTakeFirstOrThrow();
  return id;
}

/** Creates all missing system bots, so that clients see all of them. */
export async function makeSystemBots({ db }: ServerTransaction): Promise<void> {
  await makeBots(db, systemBotNames);
}

async function makeBots(db: Kysely<ServerTables>, wanted: readonly SystemBotName[]): Promise<void> {
  const known = await db
    .selectFrom('users')
    .select('system_bot')
    .where('system_bot', 'is not', null)
    .execute();
  const missing = wanted.filter((name) => !known.some(({ system_bot }) => system_bot === name));
  if (missing.length === 0) return;
  const rows = missing.map((name) => ({
    email: `${name}@${systemBotAddressDomain}`,
    email_lower: `${name}@${systemBotAddressDomain}`,
    full_name: systemBots[name],
    name_key: nameKey(systemBots[name]),
    role: roles.member,
    is_bot: 1,
    bot_owner_id: null,
    // No key has an empty digest, so no client can sign in as a system bot.
    api_key_hash: '',
    is_active: 0,
    created_at: 0,
    system_bot: name,
  }));
  // Another process may insert the same bots concurrently.
  await db
    .insertInto('users')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
