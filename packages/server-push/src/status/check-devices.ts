import { type Kysely, sql } from 'kysely';
import type { ServerPushTables } from '../tables.js';
import { countDevices } from './count-devices.js';
import { failed, type PushCheck, passed } from './push-check.js';

/** Counts the organization's devices by state. The check fails if registrations have failed and no phone is registered. */
export async function checkDevices(db: Kysely<ServerPushTables>): Promise<PushCheck[]> {
  const counted = await countDevices(db);
  const total = (state: 'active' | 'pending' | 'failed') =>
    counted.reduce((sum, kind) => sum + kind[state], 0);
  const cause = `${total('active')} registered, ${total('pending')} pending, ${total('failed')} failed.`;
  if (total('failed') === 0 || total('active') > 0) return [passed('devices', cause)];
  const code = await commonestError(db);
  return [
    failed(
      'devices',
      `No phone is registered: ${cause} The relay's most frequent refusal is ${code}.`,
      remedyOf(code),
    ),
  ];
}

async function commonestError(db: Kysely<ServerPushTables>): Promise<string> {
  const { rows } = await sql<{ code: string }>`
    select code from (
      select error_code as code from push_devices where error_code is not null
      union all
      select push_registration_error_code from client_devices where push_registration_error_code is not null
    ) as refusals group by code order by count(*) desc, code limit 1`.execute(db);
  return rows[0]?.code ?? 'BAD_REQUEST';
}

function remedyOf(code: string): string {
  if (code === 'INVALID_BOUNCER_PUBLIC_KEY') {
    return 'The app seals for a key that this relay does not have: use an app build with the key of this relay, or let the app follow its key list.';
  }
  if (code === 'REQUEST_EXPIRED') {
    return 'The registrations reached the relay more than a day late: check the clocks of phones and servers, then open the app again.';
  }
  return "Open the app again. If the problem persists, ask the relay's operator to look at its log.";
}
