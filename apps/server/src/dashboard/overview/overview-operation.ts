import { administrator } from '@waxwing/service/dashboard';
import { noParameters, operation } from '@waxwing/service/http';
import type { DashboardContext } from '../dashboard-context.js';
import { overviewAnswer, readOverview } from './overview.js';

/** Returns the state of the server and its current problems. */
export const showOverview = operation({
  method: 'GET',
  path: '/admin/api/overview',
  summary: 'Returns the state of the server and its current problems.',
  actor: administrator,
  parameters: noParameters,
  answer: overviewAnswer,
  codes: [],
  handle: (context: DashboardContext) => readOverview(context),
});
