import {
  notifyBodyLimitBytes,
  relayNotifyPath,
  relayRegisterManyPath,
  serverAnalyticsPath,
  stringifyJson,
} from '@waxwing/protocol';
import type { AttackWorld } from './attack-world.js';
import { formRequest, jsonRequest, type RefusedRequest } from './refusals.js';
import { newPhone, RelayMember } from './relay-member.js';

const registrationsAtOnce = 100;
const reportedRows = 10_000;
/**
 * Allowed responses. Thirty concurrent requests exceed the client's quarter of the memory for bodies, or its quota per
 * minute. The relay responds with 408 if a body takes longer than the relay waits for it.
 */
const answers = ['200', '503 RATE_LIMIT_HIT', '503 SERVICE_UNAVAILABLE', '408 REQUEST_TIMEOUT'];

/** The most expensive requests to a relay, each as large as allowed, keyed by the other member's action. */
export const expensiveRelayRequests: Readonly<
  Record<string, (world: AttackWorld) => Promise<RefusedRequest>>
> = {
  'another member reports ten thousand counts': async ({ constellation }) => {
    const { authorization } = await RelayMember.add(constellation);
    return report(authorization, { realm_counts: countsOf(reportedRows), installation_counts: '[]' });
  },
  'another member reports three lists of ten thousand counts each': async ({ constellation }) => {
    const { authorization } = await RelayMember.add(constellation);
    const rows = countsOf(reportedRows);
    const form = { realm_counts: rows, installation_counts: rows, realmauditlog_rows: rows };
    return report(authorization, form);
  },
  'another member reports counts with long numbers': async ({ constellation }) => {
    const { authorization } = await RelayMember.add(constellation);
    const rows = countsOf(reportedRows, '9007199254740993');
    return report(authorization, { realm_counts: rows, installation_counts: '[]' });
  },
  'another member sends the largest notify requests': async ({ constellation }) => {
    const member = await RelayMember.add(constellation);
    const phone = await newPhone(constellation);
    const deviceId = await member.register(phone);
    const one = stringifyJson(member.pushRequest(deviceId, phone)).length + 1;
    const most = Math.floor((notifyBodyLimitBytes - 1000) / one);
    return jsonRequest(
      answers,
      relayNotifyPath,
      member.authorization,
      member.notificationBody(deviceId, phone, most),
    );
  },
  'another member sends the largest registration batches': async ({ constellation }) => {
    const member = await RelayMember.add(constellation);
    const registrations = [];
    for (let count = 0; count < registrationsAtOnce; count += 1) {
      const {
        realm_uuid: _realm,
        push_account_id,
        ...form
      } = member.registrationForm(await newPhone(constellation));
      registrations.push({ push_account_id: BigInt(push_account_id ?? 0), ...form });
    }
    const body = stringifyJson({ realm_uuid: member.realmUuid, registrations });
    return jsonRequest(answers, relayRegisterManyPath, member.authorization, body);
  },
};

function report(authorization: string, lists: Readonly<Record<string, string>>): RefusedRequest {
  return formRequest(answers, serverAnalyticsPath, authorization, { ...lists, version: '"12.0"' });
}

/** Rows in the format of a stock server's report. */
function countsOf(rows: number, value = '3'): string {
  const all = Array.from(
    { length: rows },
    (_, id) =>
      `{"property":"messages_sent:is_bot:hour","realm":1,"id":${id},"end_time":${1_773_200_000 + id}.0,"subgroup":"false","value":${value}}`,
  );
  return `[${all.join(',')}]`;
}
