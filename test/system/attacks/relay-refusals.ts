import { randomBytes, randomUUID } from 'node:crypto';
import {
  keyListPath,
  livenessTimeoutSeconds,
  relayNotifyPath,
  relayReceiptsPath,
  relayRegisterPath,
  relayRemovePath,
} from '@waxwing/protocol';
import { ask } from '../crash/ask.js';
import { requestText } from './attack-requests.js';
import type { AttackWorld } from './attack-world.js';
import { formRequest, jsonRequest, type Refusals } from './refusals.js';
import { newPhone, RelayMember } from './relay-member.js';

/** Number of notifications in one request: as many as fit into a body. */
const mostNotifications = 5000;
const fewNotifications = 100;
/** Responses to unauthenticated clients. The rate limit of their address refuses most of these requests. */
const refusedOrLimited = ['503 RATE_LIMIT_HIT', '400 BAD_REQUEST'];

/**
 * Requests from members and unauthenticated clients that a relay refuses for their content, keyed by the attackers'
 * action. All of them query the database.
 */
export const relayRefusals: Refusals = {
  'an unauthenticated client registers servers without an invitation': () =>
    formRequest(refusedOrLimited, '/api/v1/remotes/server/register', 'none', {
      zulip_org_id: randomUUID(),
      zulip_org_key: randomBytes(32).toString('hex'),
      hostname: 'chat.example.org',
      contact_email: 'admin@example.org',
    }),
  'an unauthenticated client claims the host of another server': () =>
    formRequest(refusedOrLimited, '/api/v1/remotes/server/register/verify_challenge', 'none', {
      hostname: 'chat.example.org',
      access_token: 'token',
    }),
  'another member registers for an unknown key': (world) =>
    registration(world, '400 INVALID_BOUNCER_PUBLIC_KEY', {
      bouncer_public_key: randomBytes(32).toString('base64'),
    }),
  'another member sends a registration that cannot be decrypted': (world) =>
    registration(world, '400 BAD_REQUEST', {
      encrypted_push_registration: randomBytes(300).toString('base64'),
    }),
  'another member registers for an unknown organization': (world) =>
    registration(world, '403 MISSING_REMOTE_REALM', { realm_uuid: randomUUID() }),
  'another member registers for an organization of another server': async (world) =>
    registration(world, '403 REMOTE_REALM_SERVER_MISMATCH_ERROR', {
      realm_uuid: (await RelayMember.add(world.constellation)).realmUuid,
    }),
  'another member sends a registration that was sealed too long ago': async (world) => {
    const timestamp = Math.floor(Date.now() / 1000) - livenessTimeoutSeconds - 60;
    const sealed = (await newPhone(world.constellation)).sealRegistration({ timestamp });
    return registration(world, '400 REQUEST_EXPIRED', { encrypted_push_registration: sealed });
  },
  'another member replays a registration of another organization': async (world) => {
    const phone = await newPhone(world.constellation);
    const other = await RelayMember.add(world.constellation);
    await other.register(phone);
    return registration(world, '400 BAD_REQUEST', { encrypted_push_registration: phone.sealedRegistration });
  },
  'another member sends a registration that its phone has replaced': async ({ constellation }) => {
    const member = await RelayMember.add(constellation);
    const phone = await newPhone(constellation);
    const form = member.registrationForm(phone);
    const older = phone.sealRegistration({ sequence: Date.now() - 1000 });
    await member.register(phone, phone.sealRegistration({ sequence: Date.now() }));
    const wrong = { ...form, encrypted_push_registration: older };
    return formRequest('400 REQUEST_EXPIRED', relayRegisterPath, member.authorization, wrong);
  },
  'another member notifies a device that does not exist': async ({ constellation }) => {
    const member = await RelayMember.add(constellation);
    const body = member.notificationBody(2 ** 40, await newPhone(constellation));
    return jsonRequest(['200'], relayNotifyPath, member.authorization, body);
  },
  'another member has used up its quota': async ({ constellation }) => {
    const member = await RelayMember.add(constellation);
    const phone = await newPhone(constellation);
    const body = (count: number): string => member.notificationBody(2 ** 40, phone, count);
    await useUpQuota(constellation, member, body(mostNotifications));
    await useUpQuota(constellation, member, body(fewNotifications));
    // A few requests succeed as the quota refills.
    const answers = ['503 RATE_LIMIT_HIT', '200'];
    return {
      ...jsonRequest(answers, relayNotifyPath, member.authorization, body(fewNotifications)),
      lapses: true,
    };
  },
  'another member removes more phones than allowed in one request': async ({ constellation }) => {
    const { realmUuid, authorization } = await RelayMember.add(constellation);
    const ids = JSON.stringify(Array.from({ length: 201 }, (_none, id) => id));
    return formRequest('400 BAD_REQUEST', relayRemovePath, authorization, {
      realm_uuid: realmUuid,
      device_ids: ids,
    });
  },
  'another member requests a receipt that does not exist': async ({ constellation }) => {
    const { authorization } = await RelayMember.add(constellation);
    const start = `GET ${relayReceiptsPath}?ids=${randomUUID()}`;
    return { answers: ['200'], request: requestText(start, { authorization }) };
  },
  'unauthenticated clients request the key list': () => ({
    answers: ['200'],
    request: requestText(`GET ${keyListPath}`),
  }),
};

/** A registration request with some wrong fields. */
async function registration(
  { constellation }: Pick<AttackWorld, 'constellation'>,
  answer: string,
  wrong: Readonly<Record<string, string>>,
) {
  const member = await RelayMember.add(constellation);
  const right = member.registrationForm(await newPhone(constellation));
  return formRequest(answer, relayRegisterPath, member.authorization, { ...right, ...wrong });
}

async function useUpQuota(
  { relayUrl }: AttackWorld['constellation'],
  { authorization }: RelayMember,
  body: string,
): Promise<void> {
  for (;;) {
    const asked = await ask(relayUrl + relayNotifyPath, authorization, body);
    if (asked.status === 503) return;
    if (asked.status !== 200) throw new Error(`the relay responded to a notification with ${asked.status}`);
  }
}
