import { ProtocolError } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import type { ServerContext } from '../../context.js';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { spectator } from '../../people/permissions/spectator.js';
import { hasPublicAccess, isMessageOnWeb } from '../../people/realm/public-access.js';
import { readRealmSettings } from '../../people/realm/realm-setting-store.js';
import type { ServerTables } from '../../tables.js';
import { type NarrowCondition, readNarrowCondition } from './narrow/narrow-condition.js';
import { type NarrowTerm, operatorOf } from './narrow/narrow-terms.js';

/**
 * Returns the actor that represents unauthenticated clients, or `undefined` if the organization no longer has public
 * access.
 */
export async function spectatorNow(
  context: Pick<ServerContext, 'database' | 'offersWebPublicChannels'>,
): Promise<PermissionHolder | undefined> {
  const settings = await readRealmSettings(context.database.db);
  return hasPublicAccess(context, settings) ? spectator : undefined;
}

/** Operators that do not depend on the reader's own data. */
const operators = ['channel', 'channels', 'topic', 'sender', 'has', 'search', 'near', 'id', 'with'];

/**
 * Reads a narrow. The narrow of an unauthenticated reader (`undefined`) must select web-public channels, and finds only
 * messages in them.
 * @throws ProtocolError BAD_NARROW for terms that are invalid for the reader, UNAUTHORIZED for terms that require an
 * account.
 */
export async function readNarrowOf(
  db: Kysely<ServerTables>,
  realm: Pick<ServerContext['realm'], 'url'>,
  reader: PermissionHolder | undefined,
  terms: readonly NarrowTerm[],
): Promise<NarrowCondition> {
  if (reader !== undefined) return readNarrowCondition(db, realm, reader, terms);
  const isPublic = terms.some(
    (term) => operatorOf(term) === 'channels' && term.operand === 'web-public' && !term.isNegated,
  );
  if (!isPublic || !terms.every((term) => operators.includes(operatorOf(term))))
    throw new ProtocolError('UNAUTHORIZED');
  const narrow = await readNarrowCondition(db, realm, spectator, terms);
  return { ...narrow, condition: sql`${isMessageOnWeb} and ${narrow.condition}`, isAllReadable: false };
}
