import { createHash } from 'node:crypto';
import type { UserId } from '@waxwing/protocol';
import { packageVersion } from '@waxwing/service/command-line';
import { ListAnswer, operation, optionalJsonParameter, RawAnswer, revalidation } from '@waxwing/service/http';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import type { ServerTables } from '../../tables.js';
import { possibleIdList } from '../permissions/id-lists.js';
import { readProfileData } from '../profile-fields/profile-values.js';
import type { Reader } from './address-visibility.js';
import { detailsInPieces } from './user-details.js';
import { userOrSpectator } from './user-or-spectator.js';
import { avatarAlias, recordParameters } from './user-parameters.js';
import { userRecord, writeUser } from './user-record.js';
import { limitedVisibility, seesAllUsers } from './user-visibility.js';
import { readUsersVersion } from './users-version.js';

/** Part of the ETag: another version of the server may encode the same users differently. */
const program = packageVersion(new URL('../../../package.json', import.meta.url));

const parameters = z.object({ user_ids: optionalJsonParameter(possibleIdList), ...recordParameters });

/**
 * `GET /api/v1/users` (docs/chat-api.md, section 7): returns the users and bots that the reader can see, including
 * deactivated users, ordered by id. `user_ids` limits the list; unknown ids are omitted. Needs no credentials in
 * organizations with public access. Streams the list in pages; each page is current when it is read. For readers who
 * see all users, the response has an ETag: `If-None-Match` gets 304 while no user has changed.
 */
export const getUsers = operation({
  method: 'GET',
  path: '/api/v1/users',
  summary: 'Lists the users and bots of the organization.',
  actor: userOrSpectator,
  parameters,
  aliases: avatarAlias,
  since: { user_ids: 384 },
  answer: z.object({ members: z.array(userRecord) }),
  isCacheable: true,
  codes: [],
  async handle({ database: { db }, realm }: ServerContext, { actor: reader, head, parameters: asked }) {
    const seesAll = await seesAllUsers(db, reader);
    // Reads the version before the users: if they change in between, the version is outdated, but the users are not.
    const caching = seesAll
      ? revalidation(head, await versionFor(db, { reader, realmUrl: realm.url, asked }))
      : undefined;
    if (caching?.isCurrent) return new RawAnswer(304, caching.headers, undefined);
    const ids = asked.user_ids as UserId[] | undefined;
    const sees = seesAll ? () => true : await limitedVisibility(db, reader, ids);
    const options = { reader, realm, clientMakesAvatars: asked.client_external_avatar };
    async function* pieces() {
      for await (const users of detailsInPieces(db, ids)) {
        const seen = users.filter((each) => sees(each));
        const seenIds = seen.map(({ id }) => id);
        const profileDataOf =
          reader !== undefined && asked.include_custom_profile_fields
            ? await readProfileData(db, seenIds)
            : undefined;
        yield seen.map((each) => writeUser(each, { ...options, profileDataOf }));
      }
    }
    return new ListAnswer('members', pieces(), {}, caching?.headers);
  },
});

interface Asked {
  readonly reader: Reader;
  readonly realmUrl: string;
  readonly asked: z.output<typeof parameters>;
}

/**
 * Computes the ETag of the response for a reader who sees all users. It depends on the reader and its role, which
 * determine the visible addresses.
 */
async function versionFor(db: Kysely<ServerTables>, { reader, realmUrl, asked }: Asked): Promise<string> {
  const known = [program, await readUsersVersion(db), realmUrl, reader?.id, reader?.role, asked];
  return createHash('sha256').update(JSON.stringify(known)).digest('base64url');
}
