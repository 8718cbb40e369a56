import { administrator } from '@waxwing/service/dashboard';
import { integerParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { DashboardContext } from '../dashboard-context.js';
import { overviewAnswer, readOverview } from './overview.js';

const longestMinutes = 24 * 60;

/** Returns the figures for the last `minutes` minutes and the relay's current problems. */
export const showOverview = operation({
  method: 'GET',
  path: '/admin/api/overview',
  summary: 'Returns figures for recent minutes, and current problems.',
  actor: administrator,
  parameters: z.object({
    minutes: integerParameter
      .pipe(z.number().min(1, 'must be at least 1').max(longestMinutes, `must be at most ${longestMinutes}`))
      .default(60),
  }),
  answer: overviewAnswer,
  codes: [],
  handle: (context: DashboardContext, { parameters: { minutes } }) => readOverview(context, minutes),
});
