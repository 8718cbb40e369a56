import { randomUUID } from 'node:crypto';
import {
  relayReceiptsPath,
  relayRegisterManyPath,
  relayRegisterPath,
  relayRemovePath,
} from '@waxwing/protocol';
import { type Answer, ask, form, question } from './ask.js';
import type { RelayUnderLimits } from './relay-under-limits.js';

export function register(
  relay: RelayUnderLimits,
  sealed: object,
  changes: Record<string, string> = {},
): Promise<Answer> {
  const fields = { ...relay.registration({ token: 'greedy', ...sealed }), ...changes };
  return ask(form(relay.url + relayRegisterPath, relay.greedy.authorization, fields));
}

export function registerMany(relay: RelayUnderLimits, count: number, padding = ''): Promise<Answer> {
  const { realm_uuid, ...fields } = relay.registration({ token: 'many' });
  const registrations = Array.from({ length: count }, (_, id) => ({
    ...fields,
    push_account_id: 100 + (id % 9),
  }));
  const body = JSON.stringify({ realm_uuid, registrations, padding });
  return ask({ ...relay.notification(1), url: relay.url + relayRegisterManyPath, body });
}

export function remove(relay: RelayUnderLimits, count: number): Promise<Answer> {
  const device_ids = JSON.stringify(Array.from({ length: count }, (_, index) => 1_000_000 + index));
  const fields = { realm_uuid: relay.greedy.realmUuid, device_ids };
  return ask(form(relay.url + relayRemovePath, relay.greedy.authorization, fields));
}

export function receipts(relay: RelayUnderLimits, count: number): Promise<Answer> {
  const ids = Array.from({ length: count }, () => randomUUID()).join(',');
  return ask(question(`${relay.url}${relayReceiptsPath}?ids=${ids}`, relay.greedy.authorization));
}
