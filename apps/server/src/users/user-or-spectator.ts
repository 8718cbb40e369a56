import type { ActorKind } from '@waxwing/service/http';
import { authenticateUser, user } from '../authentication/authenticate.js';
import type { KnownUser } from '../authentication/credential-store.js';
import { readRealmSettings } from '../realm/realm-setting-store.js';
import type { ServerDatabase } from '../tables.js';

/** As {@link user}; where the organisation has public access, anybody without credentials as well, who is `undefined`. */
export const userOrSpectator: ActorKind<{ readonly database: ServerDatabase }, KnownUser | undefined> = {
  name: 'user_or_spectator',
  description:
    "A user's or bot's e-mail address and API key; none are needed in organisations with public access.",
  codes: user.codes,
  async authenticate({ database }, head) {
    if (head.header('authorization') !== undefined) return authenticateUser(database, head);
    // Refuses, as there are no credentials.
    if (!(await readRealmSettings(database.db)).enable_spectator_access) head.basicCredentials();
    return undefined;
  },
};
