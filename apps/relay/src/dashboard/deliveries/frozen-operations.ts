import { ProtocolError } from '@waxwing/protocol';
import { administrator, writingAdministrator } from '@waxwing/service/dashboard';
import { noAnswer, noParameters, operation, RawAnswer } from '@waxwing/service/http';
import { z } from 'zod';
import { recording } from '../../acts/record-act.js';
import { BreakerStore, type StoredBreaker } from '../../deliveries/breakers/breaker-store.js';
import { actor } from '../actor.js';
import { appParameter } from '../apps/app-operations.js';
import type { DashboardContext } from '../dashboard-context.js';

const path = '/admin/api/deliveries/frozen';
const count = z.number().int();

/** Returns the apps whose deletions are frozen, because unusually many of their tokens are dead. */
export const listFrozen = operation({
  method: 'GET',
  path,
  summary: 'Lists apps whose deletions are frozen.',
  actor: administrator,
  parameters: noParameters,
  answer: z.object({
    frozen: z.array(
      z.object({
        app_id: z.string(),
        vendor: z.string(),
        since: count,
        held: count,
        explanation: z.string(),
      }),
    ),
  }),
  codes: [],
  async handle({ relay: { database, deliveries } }: DashboardContext) {
    const byApp = new Map<string, StoredBreaker[]>();
    for (const breaker of await new BreakerStore(database).list()) {
      if (breaker.kind !== 'deletion' || breaker.confirmedAt !== undefined) continue;
      byApp.set(breaker.app, [...(byApp.get(breaker.app) ?? []), breaker]);
    }
    const frozen = [...byApp].map(([app, breakers]) => ({
      app_id: app,
      vendor: app.split(':', 1)[0] ?? '',
      since: Math.min(...breakers.map(({ openedAt }) => openedAt)),
      held: deliveries.frozenDeaths(app),
      explanation: breakers.map(({ scope, reason }) => `${scope || 'all'}: ${reason}`).join('; '),
    }));
    return { frozen };
  },
});

/** Confirms that an app's dead tokens may be deleted, as `apps confirm-deletions` does. */
export const thawFrozen = operation({
  method: 'POST',
  path: `${path}/thaw`,
  summary: 'Confirms the frozen deletions of an app.',
  actor: writingAdministrator,
  body: 'json',
  parameters: z.object({ app_id: appParameter }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle({ relay: { database, clock } }: DashboardContext, { parameters: { app_id: app } }) {
    const act = { actor, action: 'apps confirm-deletions', subject: app, at: clock() } as const;
    if (!(await new BreakerStore(recording(database, act)).confirm(app, act.at))) {
      const message = `The deletions of "${app}" are not frozen.`;
      throw new ProtocolError('BAD_REQUEST', { message, httpStatus: 409 });
    }
    return new RawAnswer(204, { 'cache-control': 'no-store' }, undefined);
  },
});
