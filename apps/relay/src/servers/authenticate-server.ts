import { ProtocolError, refused } from '@waxwing/protocol';
import type { ActorKind, RequestHead } from '@waxwing/service/http';
import type { ServerDirectory, ServerStanding } from './server-directory.js';

export interface AuthenticatedServer {
  /** UUID, lower case. */
  readonly serverId: string;
}

/** Requesters that are servers, as the relay's operations declare them. */
export const server: ActorKind<{ readonly servers: ServerDirectory }, AuthenticatedServer> = {
  name: 'server',
  description: 'The UUID of a server and the key that the relay gave it.',
  codes: ['BAD_REQUEST', 'UNAUTHORIZED'],
  authenticate: ({ servers }, head) => authenticateServer(head, servers),
};

/**
 * The server that sends a request, by HTTP Basic with its id and key (docs/protocol.md#authentication). An unknown id and
 * a wrong key are refused in the same words: ids cannot be probed.
 * @throws ProtocolError UNAUTHORIZED; BAD_REQUEST for another scheme, or a person's e-mail address instead of an id.
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
  const standing = servers.standingOf(serverId, password);
  if (standing instanceof Promise) return standing.then((found) => admitServer(request, serverId, found));
  return admitServer(request, serverId, standing);
}

function admitServer(request: RequestHead, serverId: string, standing: ServerStanding): AuthenticatedServer {
  if (standing === 'unknown-or-wrong-key') {
    throw new ProtocolError('UNAUTHORIZED', {
      message:
        'Zulip server auth failure: the server id is not registered or the key does not match; ask the operator of the push notification service',
    });
  }
  if (standing === 'deactivated') {
    throw new ProtocolError('UNAUTHORIZED', {
      message: 'The mobile push notification service registration for your server has been deactivated',
    });
  }
  request.setActor(serverId);
  return { serverId };
}
