import type { ActorKind } from '@waxwing/service/http';
import { type AuthenticatedServer, server } from '../../servers/authenticate-server.js';
import type { ServerDirectory } from '../../servers/server-directory.js';
import { unknownAddress } from '../../servers/server-quotas.js';

/** A server that forwards a revocation, or the address of a phone that sends a revocation itself. */
export type RevokingActor = AuthenticatedServer | { readonly address: string };

/** Actor kind for servers, and for phones, which have no credentials at the relay. */
export const serverOrPhone: ActorKind<{ readonly servers: ServerDirectory }, RevokingActor> = {
  name: 'serverOrPhone',
  description: 'The UUID of a server and the key that the relay issued to it. A phone has no credentials.',
  isOptional: true,
  codes: server.codes,
  authenticate(context, head) {
    if (head.header('authorization') !== undefined && server.authenticate !== undefined) {
      return server.authenticate(context, head);
    }
    return { address: head.address ?? unknownAddress };
  },
};
