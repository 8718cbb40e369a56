import type { ActorKind } from '@waxwing/service/http';
import { type Requester, user } from '../authentication/authenticate.js';
import { readRealmSettings } from '../realm/realm-setting-store.js';
import type { ServerDatabase } from '../tables.js';

/** As {@link user}; where the organisation has public access, anybody without credentials as well, who is `undefined`. */
export const userOrSpectator: ActorKind<{ readonly database: ServerDatabase }, Requester | undefined> = {
  name: 'user_or_spectator',
  description:
    "A user's or bot's e-mail address and API key; none are needed in organisations with public access.",
  codes: user.codes,
  async authenticate(context, head) {
    const { database } = context;
    if (head.header('authorization') !== undefined) return user.authenticate(context, head);
    // Refuses, as there are no credentials.
    if (!(await readRealmSettings(database.db)).enable_spectator_access) head.basicCredentials();
    return undefined;
  },
};
