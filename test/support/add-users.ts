import { openDatabaseWithJobs } from '@waxwing/jobs';
import { addUser } from '#server/membership/user-administration/manage-users.js';
import { roles } from '#server/platform/authentication/roles.js';
import { type ServerTables, serverMigrations } from '#server/tables.js';
import type { Constellation, ConstellationUser } from './constellation.js';

/** Adds members as the CLI command does, but without spawning a process for each. */
export async function addUsers(
  { serverEnv }: Pick<Constellation, 'serverEnv'>,
  names: readonly string[],
): Promise<ConstellationUser[]> {
  const database = await openDatabaseWithJobs<ServerTables>({
    url: serverEnv.SERVER_DATABASE ?? '',
    migrations: serverMigrations,
    role: 'visiting',
    now: Date.now,
    onJobError: (error) => {
      throw error;
    },
  });
  const realm = { url: serverEnv.SERVER_REALM_URL ?? 'http://127.0.0.1' };
  try {
    const adding = names.map(async (name) => {
      const email = `${name}@system.example`;
      const { user, apiKey } = await addUser(
        database,
        { clock: Date.now, realm },
        {
          email,
          fullName: name,
          role: roles.member,
          isBot: false,
          ownerEmail: undefined,
        },
      );
      return { user_id: user.id, email, api_key: apiKey.reveal() };
    });
    return await Promise.all(adding);
  } finally {
    await database.close();
  }
}
