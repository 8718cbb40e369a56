import type { FastifyInstance, FastifyRequest } from 'fastify';
import { servedMethods } from '../operations/served-operation.js';
import { type Readiness, readinessAnswer } from './readiness.js';

const livePath = '/health/live';
const readyPath = '/health/ready';
const json = 'application/json; charset=utf-8';

/** Whether a request is a health request. Health requests are answered even under overload. */
export function asksForHealth({ is404, url }: FastifyRequest): boolean {
  return !is404 && isHealthPath(url);
}

/** Whether a URL has a health path. The URL may have a query string. Matches paths like the router. */
export function isHealthPath(url: string): boolean {
  if (!url.startsWith('/health/')) return false;
  const [path] = url.split(/[?#]/, 1);
  return path === livePath || path === readyPath;
}

/**
 * Adds the public health endpoints: liveness and readiness. Readiness reports which checks fail, but the reasons appear
 * only in the log.
 */
export function addHealth(app: FastifyInstance, readiness: Readiness): void {
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
      const { httpStatus, body } = readinessAnswer(await readiness.look(), { isPublic: true });
      return reply.code(httpStatus).type(json).send(body);
    },
  });
}
