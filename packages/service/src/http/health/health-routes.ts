import type { FastifyInstance, FastifyRequest } from 'fastify';
import { servedMethods } from '../operations/served-operation.js';
import { type Readiness, readinessAnswer } from './readiness.js';

const livePath = '/health/live';
const readyPath = '/health/ready';
const json = 'application/json; charset=utf-8';

/** Whether a request asks for health, which no load takes away: it is answered whatever else is refused. */
export function asksForHealth({ is404, url }: FastifyRequest): boolean {
  return !is404 && isHealthPath(url);
}

/** Of the path of a request, with or without a query, as the router reads it. */
export function isHealthPath(url: string): boolean {
  if (!url.startsWith('/health/')) return false;
  const [path] = url.split(/[?#]/, 1);
  return path === livePath || path === readyPath;
}

/** Health for strangers: whether the process runs, and which checks are not well, but not why. */
export function addHealth(app: FastifyInstance, readiness: Readiness, closing: AbortSignal): void {
  const method = servedMethods('GET');
  app.route({
    method,
    url: livePath,
    handler: async (_request, reply) => reply.type(json).send('{"live":true}\n'),
  });
  app.route({
    method,
    url: readyPath,
    async handler(_request, reply) {
      const process: Record<string, string> = closing.aborted ? { process: 'closing' } : {};
      const states = { ...process, ...(await readiness.look()) };
      const { httpStatus, body } = readinessAnswer(states, { isPublic: true });
      return reply.code(httpStatus).type(json).send(body);
    },
  });
}
