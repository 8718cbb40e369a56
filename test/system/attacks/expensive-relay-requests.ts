import { randomUUID } from 'node:crypto';
import {
  encodeRelayRegisterMany,
  type PushAccountIdText,
  relayNotifyPath,
  relayReceiptsPath,
  relayRegisterManyPath,
  relayRemovePath,
  stringifyJson,
} from '@waxwing/protocol';
import { requestText } from './attack-requests.js';
import type { AttackWorld } from './attack-world.js';
import { formRequest, jsonRequest } from './refusals.js';
import { newPhone, RelayMember } from './relay-member.js';

type MakeRequest = (member: RelayMember, world: AttackWorld['constellation']) => string | Promise<string>;

const perRequest = 100;
const idsPerRequest = 200;
const reportedCounts = 10_000;

/** Requests that take a relay the most, each as large as it may be, by what the other server does. */
const requests: Readonly<Record<string, MakeRequest>> = {
  'another server registers phones by the hundred': async (member, world) => {
    const phones = await Promise.all(Array.from({ length: perRequest }, () => newPhone(world)));
    const items = phones.map((phone) => ({
      pushAccountId: phone.pushAccountId as PushAccountIdText,
      encryptedPushRegistration: phone.sealedRegistration,
      bouncerPublicKey: phone.bouncerPublicKey,
      accountsOfUser: [],
    }));
    const body = stringifyJson(encodeRelayRegisterMany(member.realmUuid, items));
    return jsonRequest([], relayRegisterManyPath, member.authorization, body).request;
  },
  'another server sends notifications by the hundred': async (member, world) => {
    const phone = await newPhone(world);
    const body = member.notificationBody(await member.register(phone), phone, perRequest);
    return jsonRequest([], relayNotifyPath, member.authorization, body).request;
  },
  'another server removes two hundred phones': ({ authorization, realmUuid }) =>
    formRequest([], relayRemovePath, authorization, {
      realm_uuid: realmUuid,
      device_ids: JSON.stringify(Array.from({ length: idsPerRequest }, (_none, index) => 2 ** 40 + index)),
    }).request,
  'another server asks for two hundred receipts': ({ authorization }) => {
    const ids = Array.from({ length: idsPerRequest }, () => randomUUID()).join(',');
    return requestText(`GET ${relayReceiptsPath}?ids=${ids}`, { authorization });
  },
  'another server reports ten thousand counts': ({ authorization, realmUuid }) => {
    const counts = Array.from({ length: reportedCounts }, (_none, id) => ({
      property: 'messages',
      id,
      value: 1,
    }));
    return formRequest([], '/api/v1/remotes/server/analytics', authorization, {
      ...{ realm_counts: JSON.stringify(counts), installation_counts: '[]' },
      realms: JSON.stringify([{ uuid: realmUuid }]),
    }).request;
  },
};

/** By what the other server does; each has its own member of the relay, with a full quota. */
export const expensiveRelayRequests: Readonly<Record<string, (world: AttackWorld) => Promise<string>>> =
  Object.fromEntries(
    Object.entries(requests).map(([what, make]) => [
      what,
      async ({ constellation }: AttackWorld) => make(await RelayMember.add(constellation), constellation),
    ]),
  );
