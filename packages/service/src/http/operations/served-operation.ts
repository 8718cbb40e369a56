import type { BoundOperation, Method } from './operation.js';
import { ParameterReader } from './request-parameters.js';

/** A bound operation with values that are precomputed from its declaration. */
export interface ServedOperation extends BoundOperation {
  /** The operation's name in log lines and metrics, such as `GET /api/v1/messages`. */
  readonly name: string;
  readonly reader: ParameterReader;
  /** The operation's path in Fastify's syntax. */
  readonly route: string;
}

export function serveOperations(operations: readonly BoundOperation[]): ServedOperation[] {
  return operations.map((bound) => {
    const { method, path } = bound.declared;
    const route = path.replace(/\{(\w+)\}/g, ':$1');
    return { ...bound, name: `${method} ${path}`, route, reader: new ParameterReader(bound.declared) };
  });
}

/** Returns the operations at a path, regardless of method. */
export function operationsAt(operations: readonly ServedOperation[], path: string): ServedOperation[] {
  const parts = path.split('/');
  return operations.filter(({ declared }) => matches(declared.path.split('/'), parts));
}

/** Returns the HTTP methods that a path supports; empty for an unknown path. */
export function allowedMethods(operations: readonly ServedOperation[], path: string): string[] {
  return methodsOf(operationsAt(operations, path));
}

export function methodsOf(operations: readonly ServedOperation[]): string[] {
  return [...new Set(operations.flatMap(({ declared }) => servedMethods(declared.method)))];
}

/** Returns the HTTP methods that an operation serves. GET includes HEAD. */
export function servedMethods(method: Method): (Method | 'HEAD')[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

/** Returns a predicate on method and path that is true for long polls. */
export function longPollsAmong(
  operations: readonly ServedOperation[],
): (request: { readonly method?: string | undefined; readonly url?: string | undefined }) => boolean {
  const names = new Set(operations.filter(({ declared }) => declared.lane).map(({ name }) => name));
  return ({ method, url = '' }) => {
    const query = url.indexOf('?');
    return names.has(`${method} ${query === -1 ? url : url.slice(0, query)}`);
  };
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  if (pattern.length !== parts.length) return false;
  return pattern.every((part, index) => (part.startsWith('{') ? parts[index] !== '' : part === parts[index]));
}
