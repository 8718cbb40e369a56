import { errorCodes, ProtocolError } from '@waxwing/protocol';
import type { FastifyRequest } from 'fastify';
import { isHealthPath } from './health/health-routes.js';
import { allowedMethods, type ServedOperation, servedMethods } from './operations/served-operation.js';

/**
 * Whether no operation serves the request. Also true for a path with an empty parameter, although the router accepts
 * it.
 */
export function isNotFound({ is404, params }: FastifyRequest): boolean {
  return is404 || Object.values(params as Record<string, string>).includes('');
}

/** Returns the refusal for a request that no operation of the app serves. */
export function notFoundIn(operations: readonly ServedOperation[], request: FastifyRequest): ProtocolError {
  const [path = ''] = request.url.split('?', 1);
  return notFound(isHealthPath(path) ? servedMethods('GET') : allowedMethods(operations, path));
}

/** Returns NOT_FOUND, or METHOD_NOT_ALLOWED with `allowed_methods` if the path exists with other methods. */
export function notFound(methods: readonly string[]): ProtocolError {
  if (methods.length === 0) return new ProtocolError('NOT_FOUND');
  const message = `${errorCodes.METHOD_NOT_ALLOWED.message}: use ${methods.join(' or ')}`;
  return new ProtocolError('METHOD_NOT_ALLOWED', { message, fields: { allowed_methods: [...methods] } });
}
