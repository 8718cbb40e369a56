import { checkConfiguredPush, findRelayAccount, sendTest } from '@waxwing/server-push';
import { describeTest } from '@waxwing/server-push/commands';
import { CommandError } from '@waxwing/service/command-line';
import { administrator, refuseAct, writingAdministrator } from '@waxwing/service/dashboard';
import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { requireUser } from '../../membership/user-administration/manage-users.js';
import { adminNames } from '../../push/admin-names.js';
import type { DashboardContext } from '../dashboard-context.js';

const waitSeconds = 5;
const maximumAddressCharacters = 320;

/** Checks push end to end, from the configuration to the phones, as `push status` does. Sends requests to the relay. */
export const showPushChecks = operation({
  method: 'GET',
  path: '/admin/api/push',
  summary: 'Checks push from the configuration to the phones.',
  actor: administrator,
  parameters: noParameters,
  answer: z.object({
    checks: z.array(
      z.object({ name: z.string(), ok: z.boolean(), cause: z.string(), remedy: z.string().nullable() }),
    ),
  }),
  codes: [],
  async handle({ server: { clock, database, realm }, settings, sodium }: DashboardContext) {
    const checks = await checkConfiguredPush({ database, settings, realm, sodium, clock, names: adminNames });
    return { checks: checks.map(({ check, ...result }) => ({ name: check, ...result })) };
  },
});

/** Sends a test notification to a user's phones, as `push test` does, and waits up to five seconds for the results. */
export const sendPushTest = operation({
  method: 'POST',
  path: '/admin/api/push/test',
  summary: "Sends a test notification to a user's phones.",
  actor: writingAdministrator,
  body: 'json',
  parameters: z.object({ email: z.string().min(1).max(maximumAddressCharacters) }),
  answer: z.object({ result: z.string() }),
  codes: ['BAD_REQUEST'],
  handle: ({ server, settings, sodium, log }: DashboardContext, { parameters: { email } }) =>
    refuseAct(async () => {
      const { clock, database, realm } = server;
      const { id } = await requireUser(database, email);
      const { account: relay } = await findRelayAccount(database, settings, adminNames);
      if (relay.kind === 'not-configured') throw new CommandError('No relay is configured: see above.');
      log.info({ userId: id }, 'sending a test notification from the dashboard');
      const test = await sendTest({ database, relay, realm, sodium, clock, waitSeconds }, id);
      return { result: describeTest(test) };
    }),
});
