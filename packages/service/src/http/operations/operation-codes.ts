import type { ErrorCode } from '@waxwing/protocol';
import type { z } from 'zod';
import { type AnyOperation, pathParameters } from './operation.js';

/**
 * Returns all error codes of an operation, sorted. This includes its own codes and those of an overloaded or failing
 * service.
 */
export function codesOf(declared: AnyOperation): ErrorCode[] {
  const all = new Set(codesOfRequests(declared));
  all.add('INTERNAL_SERVER_ERROR').add('SERVICE_UNAVAILABLE');
  if (declared.actor.authenticate !== undefined) all.add('RATE_LIMIT_HIT');
  return [...all].sort();
}

/**
 * Returns the error codes that depend on the request, sorted. They come from the actor, the body, the parameters and
 * the handler.
 */
export function codesOfRequests(declared: AnyOperation): ErrorCode[] {
  const { actor, method, codes, parameters } = declared;
  const all = new Set<ErrorCode>([...codes, ...actor.codes]);
  if (method !== 'GET') for (const code of codesOfBodies) all.add(code);
  if (Object.keys(parameters.shape).length > 0) {
    all.add('BAD_REQUEST');
    if (declared.body !== 'json' && hasRequiredParameter(declared)) all.add('REQUEST_VARIABLE_MISSING');
  }
  if (declared.aliases !== undefined) all.add('REQUEST_CONFUSING_VAR');
  return [...all].sort();
}

function hasRequiredParameter({ parameters, path }: AnyOperation): boolean {
  const inPath = pathParameters(path);
  return Object.entries(parameters.shape).some(
    ([name, shape]) => !inPath.includes(name) && !(shape as z.ZodType).safeParse(undefined).success,
  );
}

const codesOfBodies = ['BAD_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;
