import { administrator } from '@waxwing/service/dashboard';
import { integerParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { listActs } from '../../acts/act-store.js';
import type { DashboardContext } from '../dashboard-context.js';
import { limitParameter } from '../pages.js';

/** Returns the audit log of the dashboard and the command line, newest first. */
export const showAudit = operation({
  method: 'GET',
  path: '/admin/api/audit',
  summary: 'Lists the audit log, newest first.',
  actor: administrator,
  parameters: z.object({
    after: integerParameter
      .pipe(z.number().min(1, 'must be the "next" value of the previous page'))
      .optional(),
    limit: limitParameter,
  }),
  answer: z.object({
    entries: z.array(
      z.object({
        id: z.string(),
        at: z.number().int(),
        actor: z.string(),
        action: z.string(),
        subject: z.string(),
        detail: z.string(),
      }),
    ),
    next: z.string().optional(),
  }),
  codes: [],
  async handle({ relay: { database } }: DashboardContext, { parameters: { after, limit } }) {
    const found = await listActs(database, { before: after, limit: limit + 1 });
    const entries = found.slice(0, limit).map((act) => ({ ...act, id: String(act.id), at: Number(act.at) }));
    const last = found.length > limit ? entries.at(-1) : undefined;
    return last === undefined ? { entries } : { entries, next: last.id };
  },
});
