import { ProtocolError } from '@waxwing/protocol';
import { administrator, writingAdministrator } from '@waxwing/service/dashboard';
import { noAnswer, noParameters, operation, RawAnswer } from '@waxwing/service/http';
import { z } from 'zod';
import type { DashboardContext } from '../dashboard-context.js';

const path = '/admin/api/jobs/dead';
const maximumShown = 100;
const count = z.number().int();

/** Lists the 100 oldest dead letters: jobs that were given up, with the reason of each. */
export const listDeadJobs = operation({
  method: 'GET',
  path,
  summary: 'Lists the oldest jobs that were given up, with the reason of each.',
  actor: administrator,
  parameters: noParameters,
  answer: z.object({
    dead: z.array(
      z.object({ id: z.string(), kind: z.string(), reason: z.string(), attempts: count, died_at: count }),
    ),
  }),
  codes: [],
  async handle({ server: { database } }: DashboardContext) {
    const found = await database.jobs.list({ state: 'dead', limit: maximumShown });
    const dead = found.map(({ id, kind, reason = '', attempts, at }) => ({
      id,
      kind,
      reason,
      attempts,
      died_at: at,
    }));
    return { dead };
  },
});

/** Retries a dead letter with its original lifetime, as `queue retry` does. */
export const retryDeadJob = operation({
  method: 'POST',
  path: `${path}/{id}/retry`,
  summary: 'Retries a job that was given up.',
  actor: writingAdministrator,
  body: 'json',
  parameters: z.object({ id: z.string().regex(/^\d{1,18}$/, 'must be the id of a job') }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle({ server: { database }, log }: DashboardContext, { parameters: { id } }) {
    const isDead = (await database.jobs.show(id))?.state === 'dead';
    if (!isDead || !(await database.jobs.retry(id))) {
      const message = `There is no dead job ${id}: it has already been retried or dropped.`;
      throw new ProtocolError('BAD_REQUEST', { message, httpStatus: 409 });
    }
    log.info({ job: id }, 'retried a dead job from the dashboard');
    return new RawAnswer(204, { 'cache-control': 'no-store' }, undefined);
  },
});
