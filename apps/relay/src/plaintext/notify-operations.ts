import { type JsonObject, ProtocolError, uuid } from '@waxwing/protocol';
import { noAnswer, type OperationRequest, operation } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import type { Deliveries } from '../deliveries/create-deliveries.js';
import { waitingServer } from '../deliveries/requests/waiting-server.js';
import { type AuthenticatedServer, server } from '../servers/authenticate-server.js';
import type { ServerDirectory } from '../servers/server-directory.js';
import { costOfBody, type ServerQuotas } from '../servers/server-quotas.js';
import { findOwnRealm } from './own-realm.js';
import type { PlaintextDevice, PlaintextDevices } from './plaintext-devices.js';
import { buildPlaintextNotification, type PlaintextPayloads } from './plaintext-notification.js';
import {
  type PlaintextToken,
  readGcmPriority,
  readPlaintextToken,
  readPlaintextUser,
} from './read-plaintext.js';

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
/** Limits the work per request, because the relay hashes each token. */
const maximumTokens = 1000;
const tokens = z.array(z.string()).max(maximumTokens).default([]);
const realmStatus = z.object({ can_push: z.boolean(), expected_end_timestamp: z.number().int().nullable() });

/**
 * `POST /api/v1/remotes/push/notify` (docs/protocol.md#unsealed-tokens): delivers an unencrypted notification to all
 * devices of a user. The response lists the request's tokens that the relay does not store, so that the server deletes
 * them. While `RELAY_PLAINTEXT_DEVICES` is off, the response lists all tokens. The relay does not return an error,
 * because an error would prevent the server from sending the sealed notification.
 */
export const notifyPlaintext = operation({
  method: 'POST',
  path: '/api/v1/remotes/push/notify',
  summary: 'Delivers an unencrypted notification, if the operator allows it.',
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
  async handle(context: Context, request) {
    const {
      actor: { serverId },
      parameters,
    } = request;
    const { plaintextDevices } = context;
    const { android_devices: android, apple_devices: apple } = parameters;
    if (!plaintextDevices.isOn) return formatAnswer([], { android, apple }, null);
    const known = await findOwnRealm(context.servers, serverId, parameters.realm_uuid);
    const realm = known === undefined ? null : { can_push: true, expected_end_timestamp: null };
    const devices = await plaintextDevices.find(serverId, readPlaintextUser(parameters));
    const hasAndroid = devices.some(({ kind }) => kind === 'fcm');
    await deliver(context, request, devices, {
      gcm: parameters.gcm_payload,
      gcmPriority: hasAndroid ? readGcmPriority(parameters.gcm_options) : undefined,
      apns: parameters.apns_payload,
    });
    const isMissing = (kind: number) => (token: string) => {
      const read = readKnown({ token, token_kind: kind });
      return read === undefined || plaintextDevices.withToken(devices, read) === undefined;
    };
    const deleted = { android: android.filter(isMissing(2)), apple: apple.filter(isMissing(1)) };
    return formatAnswer(devices, deleted, realm);
  },
});

/**
 * `POST /api/v1/remotes/push/test_notification`: sends a test notification to one device.
 *
 * Errors, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503; BAD_REQUEST for invalid and unknown
 * parameters; REMOTE_REALM_SERVER_MISMATCH_ERROR; INVALID_REMOTE_PUSH_DEVICE_TOKEN if the device is not stored or the
 * setting is off.
 */
export const testPlaintext = operation({
  method: 'POST',
  path: '/api/v1/remotes/push/test_notification',
  summary: 'Sends an unencrypted test notification, if the operator allows it.',
  actor: server,
  body: 'json',
  parameters: z.strictObject({
    ...user,
    realm_uuid: uuid.nullish(),
    token: z.string(),
    token_kind: z.number().int(),
    base_payload: payload,
  }),
  answer: noAnswer,
  codes: [
    'RATE_LIMIT_HIT',
    'BAD_REQUEST',
    'REMOTE_REALM_SERVER_MISMATCH_ERROR',
    'INVALID_REMOTE_PUSH_DEVICE_TOKEN',
  ],
  waitsForOthers: true,
  charge,
  async handle(context: Context, request) {
    const {
      actor: { serverId },
      parameters,
    } = request;
    const { plaintextDevices } = context;
    const user = readPlaintextUser(parameters);
    await findOwnRealm(context.servers, serverId, parameters.realm_uuid);
    const token = readKnown(parameters);
    if (!plaintextDevices.isOn || token === undefined) {
      throw new ProtocolError('INVALID_REMOTE_PUSH_DEVICE_TOKEN');
    }
    const devices = await plaintextDevices.find(serverId, user);
    const device = plaintextDevices.withToken(devices, token);
    if (device === undefined) throw new ProtocolError('INVALID_REMOTE_PUSH_DEVICE_TOKEN');
    await deliver(context, request, [device], testPayloads(parameters.base_payload, context.clock()));
    return {};
  },
});

/**
 * Builds the test payloads for both vendors. iOS shows the text. On Android, the app composes its own text, with `time`
 * in Unix seconds.
 */
function testPayloads(base: JsonObject, now: number): PlaintextPayloads {
  const zulip = { ...base, event: 'test' };
  const realm = typeof base.realm_name === 'string' ? base.realm_name : 'your organization';
  const alert = { title: 'Test notification', body: `Notifications of ${realm} reach this phone.` };
  return {
    gcm: { ...zulip, time: Math.floor(now / 1000) },
    gcmPriority: 'high',
    apns: { alert, sound: 'default', custom: { zulip } },
  };
}

async function deliver(
  { clock, deliveries, quotas }: Context,
  request: OperationRequest<unknown, AuthenticatedServer>,
  devices: readonly PlaintextDevice[],
  payloads: PlaintextPayloads,
): Promise<void> {
  const { serverId } = request.actor;
  quotas.takeAll(serverId, devices.length, () => deliveries.requireRoom(serverId, devices.length));
  const envelope = { serverId, receivedAt: clock() };
  await deliveries.deliverRead(
    serverId,
    devices.map((device) => buildPlaintextNotification(device, payloads, envelope)),
    waitingServer(request),
  );
}

/** Returns a token in its stored format; `undefined` for a token that cannot be registered. */
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
