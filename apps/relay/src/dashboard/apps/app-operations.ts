import { ProtocolError, tokenKinds } from '@waxwing/protocol';
import { administrator, writingAdministrator } from '@waxwing/service/dashboard';
import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { DashboardContext } from '../dashboard-context.js';
import { storableText } from '../storable-text.js';

const instant = z.number().int();
export const appParameter = storableText.min(1).max(300);

/** Returns the apps in the apps file, and whether the vendor accepts each app's notifications. */
export const listApps = operation({
  method: 'GET',
  path: '/admin/api/apps',
  summary: 'Lists the apps that the relay delivers for.',
  actor: administrator,
  parameters: noParameters,
  answer: z.object({
    apps: z.array(
      z.object({
        app_id: z.string(),
        vendor: z.enum(tokenKinds),
        environment: z.enum(['production', 'sandbox']).optional(),
        last_success_at: instant.nullable(),
        breaker: z.enum(['closed', 'open', 'half-open']),
        last_error: z.string().optional(),
      }),
    ),
  }),
  codes: [],
  async handle({ relay: { deliveries } }: DashboardContext) {
    const apps = deliveries.describeApps().map(({ appId, vendor, environment, ...state }) => ({
      app_id: appId,
      vendor,
      ...(environment === undefined ? {} : { environment }),
      last_success_at: state.lastSuccessAt ?? null,
      breaker: state.breaker,
      ...(state.lastError === undefined ? {} : { last_error: state.lastError }),
    }));
    return { apps };
  },
});

/** Checks an app's credential with the vendor, as `apps check` does. Does not notify any phone. */
export const checkApp = operation({
  method: 'POST',
  path: '/admin/api/apps/check',
  summary: "Checks with the vendor whether it accepts an app's credential.",
  actor: writingAdministrator,
  body: 'json',
  parameters: z.object({ app_id: appParameter }),
  answer: z.object({ ok: z.boolean(), cause: z.string().optional(), remedy: z.string().optional() }),
  codes: ['BAD_REQUEST'],
  waitsForOthers: true,
  async handle({ relay: { deliveries } }: DashboardContext, { parameters: { app_id: app } }) {
    const check = await deliveries.checkApp(app);
    if (check === undefined) {
      const message = `The app ${app} cannot be checked: the relay checks only apps in its apps file, and APNs apps only in the production environment.`;
      throw new ProtocolError('BAD_REQUEST', { message, httpStatus: 409 });
    }
    return check.ok ? { ok: true } : { ok: false, cause: check.sentence };
  },
});
