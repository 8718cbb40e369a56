import type { ActorKind } from '@waxwing/service/http';
import type { ServerContext } from '../../context.js';
import { type Requester, user } from '../../platform/authentication/authenticate.js';
import { hasPublicAccess } from '../realm/public-access.js';
import { readRealmSettings } from '../realm/realm-setting-store.js';

type SpectatorContext = Pick<ServerContext, 'database' | 'offersWebPublicChannels'>;

/**
 * Like {@link user}, but also accepts clients without credentials if the server and the organization offer public
 * access. The actor of such a client is `undefined`.
 */
export const userOrSpectator: ActorKind<SpectatorContext, Requester | undefined> = {
  name: 'user_or_spectator',
  description:
    "A user's or bot's e-mail address and API key; none are needed in organizations with public access.",
  codes: user.codes,
  async authenticate(context, head) {
    if (head.header('authorization') !== undefined) return user.authenticate(context, head);
    // Refuses the request: `basicCredentials` throws if credentials are missing.
    if (!hasPublicAccess(context, await readRealmSettings(context.database.db))) head.basicCredentials();
    return undefined;
  },
};
