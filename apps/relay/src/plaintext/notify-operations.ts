import { type JsonObject, ProtocolError, uuid } from '@waxwing/protocol';
import { noAnswer, operation } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import type { Deliveries } from '../deliveries/create-deliveries.js';
import { server } from '../servers/authenticate-server.js';
import type { ServerDirectory } from '../servers/server-directory.js';
import { costOfBody, type ServerQuotas } from '../servers/server-quotas.js';
import type { PlaintextDevice, PlaintextDevices } from './plaintext-devices.js';
import { buildPlaintextNotification, type PlaintextPayloads } from './plaintext-notification.js';
import { type PlaintextToken, readPlaintextToken, readPlaintextUser } from './read-plaintext.js';

interface Context {
  readonly servers: ServerDirectory;
  readonly quotas: Pick<ServerQuotas, 'take' | 'takeAll'>;
  readonly plaintextDevices: PlaintextDevices;
  readonly deliveries: Pick<Deliveries, 'deliverRead' | 'requireRoom'>;
  readonly clock: Clock;
}

const charge = ({ quotas }: Context, { serverId }: { serverId: string }) => quotas.take(serverId, costOfBody);
const user = { user_id: z.number().int().nullish(), user_uuid: uuid.nullish() };
const object = z.custom<JsonObject>(
  (value) => Object(value) === value && !Array.isArray(value),
  'must be an object',
);
const payload = object.meta({ openApi: { type: 'object' } });
const tokens = z.array(z.string()).default([]);
const realmStatus = z.object({ can_push: z.boolean(), expected_end_timestamp: z.number().int().nullable() });

/**
 * `POST /api/v1/remotes/push/notify` (docs/protocol.md#unsealed-tokens): delivers a notification that is not encrypted to
 * all devices of a user, and names those of the server's tokens that are not stored, so that the server removes them. While
 * `RELAY_PLAINTEXT_DEVICES` is off it names all of them: a refusal would end the server's job before it sends the sealed
 * notification.
 */
export const notifyPlaintext = operation({
  method: 'POST',
  path: '/api/v1/remotes/push/notify',
  summary: 'Delivers a notification that is not encrypted, if the operator allows it.',
  actor: server,
  body: 'json',
  parameters: z.object({
    ...user,
    realm_uuid: uuid.nullish(),
    gcm_payload: payload.default({}),
    apns_payload: payload.default({}),
    gcm_options: payload.default({}),
    android_devices: tokens,
    apple_devices: tokens,
  }),
  answer: z.object({
    total_android_devices: z.number().int(),
    total_apple_devices: z.number().int(),
    deleted_devices: z.object({ android_devices: z.array(z.string()), apple_devices: z.array(z.string()) }),
    realm: realmStatus.nullable(),
  }),
  codes: ['RATE_LIMIT_HIT', 'BAD_REQUEST', 'REMOTE_REALM_SERVER_MISMATCH_ERROR'],
  waitsForOthers: true,
  charge,
  async handle(context: Context, { actor: { serverId }, parameters }) {
    const { plaintextDevices } = context;
    const { android_devices: android, apple_devices: apple } = parameters;
    if (!plaintextDevices.isOn) return formatAnswer([], { android, apple }, null);
    const realm = await statusOfRealm(context, serverId, parameters.realm_uuid ?? undefined);
    const devices = await plaintextDevices.find(serverId, readPlaintextUser(parameters));
    await deliver(context, serverId, devices, {
      gcm: parameters.gcm_payload,
      gcmPriority: parameters.gcm_options.priority,
      apns: parameters.apns_payload,
    });
    const isMissing = (kind: number) => (token: string) => {
      const known = readKnown({ token, token_kind: kind });
      return known === undefined || !devices.some((device) => plaintextDevices.isOf(device, known));
    };
    const deleted = { android: android.filter(isMissing(2)), apple: apple.filter(isMissing(1)) };
    return formatAnswer(devices, deleted, realm);
  },
});

/**
 * `POST /api/v1/remotes/push/test_notification`: a test notification for one device. INVALID_REMOTE_PUSH_DEVICE_TOKEN if it
 * is not stored.
 */
export const testPlaintext = operation({
  method: 'POST',
  path: '/api/v1/remotes/push/test_notification',
  summary: 'Sends a test notification that is not encrypted, if the operator allows it.',
  actor: server,
  body: 'json',
  parameters: z.object({
    ...user,
    token: z.string(),
    token_kind: z.number().int(),
    base_payload: payload.default({}),
  }),
  answer: noAnswer,
  codes: ['RATE_LIMIT_HIT', 'BAD_REQUEST', 'INVALID_REMOTE_PUSH_DEVICE_TOKEN'],
  waitsForOthers: true,
  charge,
  async handle(context: Context, { actor: { serverId }, parameters }) {
    const { plaintextDevices } = context;
    const token = readKnown(parameters);
    if (!plaintextDevices.isOn || token === undefined)
      throw new ProtocolError('INVALID_REMOTE_PUSH_DEVICE_TOKEN');
    const devices = await plaintextDevices.find(serverId, readPlaintextUser(parameters));
    const device = devices.find((each) => plaintextDevices.isOf(each, token));
    if (device === undefined) throw new ProtocolError('INVALID_REMOTE_PUSH_DEVICE_TOKEN');
    const gcm = { ...parameters.base_payload, event: 'test' };
    const alert = { title: 'Test notification', body: 'This is a test notification.' };
    await deliver(context, serverId, [device], {
      gcm,
      gcmPriority: 'high',
      apns: { alert, sound: 'default', custom: { zulip: gcm } },
    });
    return {};
  },
});

async function deliver(
  { clock, deliveries, quotas }: Context,
  serverId: string,
  devices: readonly PlaintextDevice[],
  payloads: PlaintextPayloads,
): Promise<void> {
  quotas.takeAll(serverId, devices.length, () => deliveries.requireRoom(serverId, devices.length));
  const envelope = { serverId, receivedAt: clock() };
  await deliveries.deliverRead(
    serverId,
    devices.map((device) => buildPlaintextNotification(device, payloads, envelope)),
  );
}

/** A token as it would be stored; `undefined` for one that would be refused. */
function readKnown(fields: {
  readonly token: string;
  readonly token_kind: number;
}): PlaintextToken | undefined {
  try {
    return readPlaintextToken(fields);
  } catch {
    return undefined;
  }
}

/** `null` for a realm that is not known or not named. @throws ProtocolError REMOTE_REALM_SERVER_MISMATCH_ERROR */
async function statusOfRealm(
  { servers }: Context,
  serverId: string,
  realmUuid: string | undefined,
): Promise<z.input<typeof realmStatus> | null> {
  const realm = realmUuid === undefined ? undefined : await servers.realm(realmUuid);
  if (realm === undefined) return null;
  if (realm.serverId !== serverId) throw new ProtocolError('REMOTE_REALM_SERVER_MISMATCH_ERROR');
  return { can_push: true, expected_end_timestamp: null };
}

function formatAnswer(
  devices: readonly PlaintextDevice[],
  deleted: { readonly android: string[]; readonly apple: string[] },
  realm: z.input<typeof realmStatus> | null,
) {
  const count = (kind: PlaintextDevice['kind']) => devices.filter((device) => device.kind === kind).length;
  return {
    total_android_devices: count('fcm'),
    total_apple_devices: count('apns'),
    deleted_devices: { android_devices: deleted.android, apple_devices: deleted.apple },
    realm,
  };
}
