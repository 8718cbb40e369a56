import { ProtocolError, refused } from '@waxwing/protocol';
import type { ActorKind, RequestHead } from '@waxwing/service/http';
import type { ServerDirectory, ServerStatus } from './server-directory.js';
import { requireActive } from './server-state.js';

export interface AuthenticatedServer {
  /** UUID, lowercase. */
  readonly serverId: string;
}

/** Actor kind of the operations that servers call. */
export const server: ActorKind<{ readonly servers: ServerDirectory }, AuthenticatedServer> = {
  name: 'server',
  description: 'The UUID of a server and the key that the relay issued to it.',
  codes: ['BAD_REQUEST', 'UNAUTHORIZED'],
  authenticate: ({ servers }, head) => authenticateServer(head, servers),
};

/**
 * Authenticates a server by HTTP Basic with its id and key (docs/protocol.md#authentication). An unknown id and a wrong
 * key get the same message, so that ids cannot be enumerated.
 * @throws ProtocolError UNAUTHORIZED; BAD_REQUEST for another scheme, or for a user's email address instead of an id.
 */
function authenticateServer(
  request: RequestHead,
  servers: ServerDirectory,
): AuthenticatedServer | Promise<AuthenticatedServer> {
  const { username, password } = request.basicCredentials();
  if (username.includes('@')) {
    throw refused('Must validate with valid Zulip server API key');
  }
  const serverId = username.toLowerCase();
  // "push status" sends this header, because it must not get a cached result from before a deactivation.
  const isFresh = request.header('cache-control') === 'no-cache';
  const status = servers.statusOf(serverId, password, isFresh);
  if (status instanceof Promise) return status.then((found) => admitServer(request, serverId, found));
  return admitServer(request, serverId, status);
}

function admitServer(request: RequestHead, serverId: string, status: ServerStatus): AuthenticatedServer {
  if (status === 'unknown-or-wrong-key') {
    throw new ProtocolError('UNAUTHORIZED', {
      message:
        'Zulip server auth failure: the server id is not registered or the key does not match; ask the operator of the push notification service',
    });
  }
  requireActive(status);
  request.setActor(serverId);
  return { serverId };
}
