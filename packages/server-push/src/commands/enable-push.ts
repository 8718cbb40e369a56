import { CommandError, type CommandResult, type OutputFlags } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import type { AdminNames } from '../admin-names.js';
import { findUserWithDevice, sendTest } from '../notifications/send-test.js';
import { type EnabledRelay, enableRelay, type JoinRequest } from '../relay-account/enable-relay.js';
import { transferServer } from '../relay-account/transfer-server.js';
import { type AccountSettings, isPlainToOthers } from '../settings/account-settings.js';
import { readRelayNetwork } from '../settings/read-relay-network.js';
import { readOrCreateSecretKey } from '../settings/read-secret-key.js';
import { offRemedy } from '../status/check-relay.js';
import { describeTest, testJson } from './describe-test.js';
import type { PushProgram, PushWork } from './push-program.js';
import { refuseIfConfigured } from './refuse-if-configured.js';
import { defaultWaitSeconds } from './wait-flag.js';

/** Flags of `enable`. */
export interface EnableFlags extends OutputFlags {
  readonly relay: string;
  readonly invitation?: string;
  readonly contact?: string;
  readonly hostname?: string;
  readonly transfer?: true;
}

/** Joins a relay, and sends a test notification to a phone if a phone is registered. Returns the output of `enable`. */
export async function enablePush(
  program: PushProgram,
  work: PushWork,
  flags: EnableFlags,
): Promise<CommandResult> {
  const { database, settings, realm, sodium } = work;
  const { names, terminal } = program;
  refuseIfConfigured(settings, names);
  const request = await readRequest(program, work, flags);
  const secretKey = await readOrCreateSecretKey(settings.pushAccount, names);
  const network = await readRelayNetwork(settings.relayNetwork, names);
  const options = { database, realm, network, secretKey, sodium, clock: terminal.clock, names };
  if (flags.transfer) await transferServer(options, request);
  const enabled = await enableRelay(options, request);
  const userId = await findUserWithDevice(database);
  const testing = { ...options, relay: enabled.relay, waitSeconds: defaultWaitSeconds };
  const test = userId && (await sendTest(testing, userId));
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
        ? `No phone is registered yet: open the app on one, then run ${names.push} test --user USER.`
        : `Test: ${describeTest(test)}`,
    ].join('\n'),
  };
}

function describeEnabled(
  { relay, isNew, signingPublicKey, canPush }: EnabledRelay,
  { hostname }: JoinRequest,
): string[] {
  const joined = isNew ? 'joined' : 'is already registered with';
  return [
    `This server (${hostname}, ${relay.serverId}) ${joined} ${relay.url}, which is in use now.`,
    signingPublicKey === undefined
      ? 'The relay publishes no key list: phones use the key in the app.'
      : `The relay's signing key, now pinned: ${signingPublicKey}\nIts operator sees the same key with waxwing-relay keys export-public.`,
    ...(canPush ? [] : [`The relay has switched push off for the organization. ${offRemedy}`]),
  ];
}

async function readRequest(
  program: PushProgram,
  { database, settings, realm }: PushWork,
  { relay, invitation, contact, hostname }: EnableFlags,
): Promise<JoinRequest> {
  return {
    url: readRelayUrl(relay, settings, program.names),
    hostname: hostname ?? new URL(realm.url).host,
    contactEmail: contact ?? (await program.findContact(database)) ?? noContact(),
    invitation: invitation === undefined ? undefined : new Secret(invitation),
  };
}

function readRelayUrl(text: string, { pushAccount }: AccountSettings, { prefix }: AdminNames): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Credentials in the URL would be stored and printed. A query or a fragment would become part of every path.
  if (url === undefined || !/^https?:$/.test(url.protocol) || /[@?#\s]/.test(text)) {
    throw new CommandError(
      `--relay is not the address of a relay: give a URL such as https://relay.example.com.`,
    );
  }
  if (isPlainToOthers(url) && !pushAccount.allowsPlainHttp) {
    throw new CommandError(
      `--relay has plain http to another machine, which shows the server key to any machine in between: use https, or set ${prefix}RELAY_PLAIN_HTTP=on if you trust the network.`,
    );
  }
  // Normalizes the URL, because different spellings of the same URL would become separate accounts.
  return url.href.replace(/\/+$/, '');
}

function noContact(): never {
  throw new CommandError("The relay's operator needs a contact address: give one with --contact.");
}
