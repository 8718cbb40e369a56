import {
  type EnabledRelay,
  enableRelay,
  findUserWithDevice,
  type JoinRequest,
  sendTest,
} from '@waxwing/server-push';
import {
  CommandError,
  type CommandResult,
  type OutputFlags,
  type Terminal,
} from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import { isPlainToOthers, type ServerConfiguration } from '../configuration.js';
import { roles } from '../platform/authentication/roles.js';
import { describeTest, testJson } from './describe-test.js';
import { readRelayNetwork } from './read-relay-network.js';
import { readOrCreateSecretKey } from './read-secret-key.js';
import { refuseIfConfigured } from './refuse-if-configured.js';
import type { PushWork } from './with-push.js';

/** Flags of `push enable`. */
export interface EnableFlags extends OutputFlags {
  readonly relay: string;
  readonly invitation?: string;
  readonly contact?: string;
  readonly hostname?: string;
}

/** Joins a relay, and sends a test to a phone if there is one. Returns what `push enable` prints. */
export async function enablePush(
  { clock }: Terminal,
  work: PushWork,
  flags: EnableFlags,
): Promise<CommandResult> {
  const { database, configuration, realm, sodium } = work;
  refuseIfConfigured(configuration);
  const request = await readRequest(work, flags);
  const secretKey = await readOrCreateSecretKey(configuration.pushAccount);
  const network = await readRelayNetwork(configuration.relayNetwork);
  const options = { database, realm, network, secretKey, sodium, clock };
  const enabled = await enableRelay(options, request);
  const userId = await findUserWithDevice(database);
  const test = userId && (await sendTest({ ...options, relay: enabled.relay }, userId));
  const { relay, isNew, signingPublicKey } = enabled;
  return {
    machines: {
      relay_url: relay.url,
      server_id: relay.serverId,
      hostname: request.hostname,
      contact_email: request.contactEmail,
      created: isNew,
      realm_uuid: realm.uuid,
      signing_public_key: signingPublicKey ?? null,
      test: test === undefined ? null : testJson(test),
    },
    people: [
      ...describeEnabled(enabled, request),
      test === undefined
        ? 'No phone is registered yet: open the app on one, then run waxwing-server push test --user ADDRESS.'
        : `Test: ${describeTest(test)}`,
    ].join('\n'),
  };
}

function describeEnabled(
  { relay, isNew, signingPublicKey }: EnabledRelay,
  { hostname }: JoinRequest,
): string[] {
  const joined = isNew ? 'joined' : 'is known at';
  return [
    `This server (${hostname}, ${relay.serverId}) ${joined} ${relay.url}, which is in use now.`,
    signingPublicKey === undefined
      ? 'The relay publishes no key list: phones use the key in the app.'
      : `The relay's signing key, now pinned: ${signingPublicKey}\nIts operator sees the same key with waxwing-relay keys export-public.`,
  ];
}

async function readRequest(
  { database, configuration, realm }: PushWork,
  { relay, invitation, contact, hostname }: EnableFlags,
): Promise<JoinRequest> {
  return {
    url: readRelayUrl(relay, configuration),
    hostname: hostname ?? new URL(realm.url).host,
    contactEmail: contact ?? (await firstOwner(database)),
    invitation: invitation === undefined ? undefined : new Secret(invitation),
  };
}

function readRelayUrl(text: string, { pushAccount }: ServerConfiguration): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // What follows would be stored and printed, or be taken for a part of each path.
  if (url === undefined || !/^https?:$/.test(url.protocol) || /[@?#\s]/.test(text)) {
    throw new CommandError(
      `--relay is not the address of a relay: give a URL such as https://relay.example.com.`,
    );
  }
  if (isPlainToOthers(url) && !pushAccount.allowsPlainHttp) {
    throw new CommandError(
      '--relay has plain http to another machine, which shows the server key to any machine in between: use https, or set SERVER_RELAY_PLAIN_HTTP=on on a network of your own.',
    );
  }
  // The one spelling of the URL: two would be two accounts.
  return url.href.replace(/\/+$/, '');
}

async function firstOwner({ db }: PushWork['database']): Promise<string> {
  const owner = await db
    .selectFrom('users')
    .select('email')
    .where('role', '=', roles.owner)
    .where('is_active', '=', 1)
    .where('is_bot', '=', 0)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (owner !== undefined) return owner.email;
  throw new CommandError(
    "The organization has no owner: give the address that the relay's operator may write to with --contact.",
  );
}
