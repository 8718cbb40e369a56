import { randomBytes } from 'node:crypto';
import { Secret } from '@waxwing/service/config';
import type { RelayOutcome } from '../relay-link/relay-answer.js';
import type { RelayLink } from '../relay-link/relay-link.js';
import { transferRefusal } from './account-errors.js';
import { withAccountLink } from './account-link.js';
import { adoptAccount } from './account-store.js';
import type { JoinRequest, RelayAccountOptions } from './enable-relay.js';
import { hideSecret, showSecret } from './host-challenge.js';
import { sealServerKey } from './seal-server-key.js';

/**
 * Takes over the relay's existing registration of this server's host, with a new key, after the server has moved or
 * lost its credentials. A running process of this server must be reachable at the host. Stores the credentials, but
 * does not put them into use.
 * @throws PushAccountError whose message tells the admin what to do. The old keys then stay valid, unless only the
 * relay's response was lost.
 */
export async function transferServer(options: RelayAccountOptions, request: JoinRequest): Promise<void> {
  const { database, network, realm, clock } = options;
  const { url, hostname } = request;
  // The id and the key are empty, because both requests are sent without credentials.
  const relay = { kind: 'configured', url, serverId: '', serverKey: new Secret(''), network } as const;
  await withAccountLink({ relay, realm, clock }, async (link) => {
    const verificationSecret = requireAccepted(await link.startTransfer(hostname), request);
    const accessToken = new Secret(randomBytes(32).toString('base64url'));
    await showSecret(database, { accessToken, verificationSecret }, clock());
    try {
      await adopt(options, request, await proveHost(link, request, accessToken));
    } finally {
      await hideSecret(database);
    }
  });
}

interface Credentials {
  readonly serverId: string;
  readonly serverKey: Secret<string>;
}

async function proveHost(
  link: RelayLink,
  request: JoinRequest,
  accessToken: Secret<string>,
): Promise<Credentials> {
  return requireAccepted(await link.verifyChallenge(request.hostname, accessToken), request);
}

async function adopt(
  { database, secretKey, clock }: RelayAccountOptions,
  { url, hostname, contactEmail }: JoinRequest,
  { serverId, serverKey }: Credentials,
): Promise<void> {
  await adoptAccount(database, {
    url,
    server_id: serverId,
    state: 'joining',
    hostname,
    contact_email: contactEmail,
    sealed_key: sealServerKey(secretKey, { url, serverId }, serverKey),
    sealed_new_key: null,
    signing_public_key: null,
    changed_at: clock(),
  });
}

function requireAccepted<Answer>(outcome: RelayOutcome<Answer>, request: JoinRequest): Answer {
  if (outcome.kind === 'accepted') return outcome.answer;
  throw transferRefusal(outcome, request);
}
