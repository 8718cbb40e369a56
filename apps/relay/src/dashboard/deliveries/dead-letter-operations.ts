import { isJsonObject, ProtocolError, parseJsonOrUndefined } from '@waxwing/protocol';
import { administrator, writingAdministrator } from '@waxwing/service/dashboard';
import { noAnswer, operation, RawAnswer } from '@waxwing/service/http';
import { z } from 'zod';
import { recordAct } from '../../acts/record-act.js';
import { actor } from '../actor.js';
import type { DashboardContext } from '../dashboard-context.js';
import { limitParameter, positionParameter, readPosition, writePosition } from '../pages.js';

const path = '/admin/api/deliveries/dead';
const count = z.number().int();
const jobIds = /^\d{1,18}$/;

const deadLetter = z.object({
  id: z.string(),
  kind: z.string(),
  reason: z.string(),
  server: z.string().optional(),
  attempts: count,
  died_at: count,
});

/**
 * Returns the dead letters, oldest first. A dead letter is a job that the queue gave up on; the answer contains the
 * reason.
 */
export const listDeadLetters = operation({
  method: 'GET',
  path,
  summary: 'Lists dead letters with their reasons.',
  actor: administrator,
  parameters: z.object({ after: positionParameter, limit: limitParameter }),
  answer: z.object({ dead: z.array(deadLetter), next: z.string().optional(), total: count }),
  codes: [],
  async handle({ relay: { database } }: DashboardContext, { parameters: { after, limit } }) {
    const { jobs } = database;
    const position = readPosition(after, jobIds);
    const from = position && ({ createdAt: position.at, id: position.id, state: 'dead' } as const);
    const [found, tallies] = await Promise.all([
      jobs.list({ state: 'dead', limit: limit + 1, after: from }),
      jobs.tally(),
    ]);
    const some = found.slice(0, limit);
    const dead = await Promise.all(
      some.map(async ({ id, kind, reason = '', attempts, at }) => {
        const server = serverIn((await jobs.show(id))?.payload ?? '');
        const letter = { id, kind, reason, attempts, died_at: at };
        return server === undefined ? letter : { ...letter, server };
      }),
    );
    const total = tallies.reduce((sum, tally) => sum + Number(tally.dead), 0);
    const last = found.length > limit ? some.at(-1) : undefined;
    if (last === undefined) return { dead, total };
    return { dead, total, next: writePosition({ at: last.createdAt, id: last.id }) };
  },
});

/** Retries a dead letter with its original lifetime, as `queue retry` does. */
export const retryDeadLetter = operation({
  method: 'POST',
  path: `${path}/{id}/retry`,
  summary: 'Retries a dead letter.',
  actor: writingAdministrator,
  body: 'json',
  parameters: z.object({ id: z.string().regex(jobIds, 'must be the id of a job') }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle({ relay: { database, clock } }: DashboardContext, { parameters: { id } }) {
    const { jobs } = database;
    const act = { actor, action: 'queue retry', subject: id, at: clock() } as const;
    const isDead = (await jobs.show(id))?.state === 'dead';
    if (!isDead || !(await jobs.retry(id, (transaction) => recordAct(transaction, act)))) {
      const message = `There is no dead letter ${id}: it was already retried or dropped.`;
      throw new ProtocolError('BAD_REQUEST', { message, httpStatus: 409 });
    }
    return new RawAnswer(204, { 'cache-control': 'no-store' }, undefined);
  },
});

/** Returns the id of the server that a job is for, if its payload names one. The dashboard shows no other field. */
function serverIn(payload: string): string | undefined {
  const fields = parseJsonOrUndefined(payload);
  if (!isJsonObject(fields) || typeof fields.serverId !== 'string') return undefined;
  return fields.serverId.slice(0, 36);
}
