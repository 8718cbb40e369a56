import type { BoundOperation, Method } from './operation.js';
import { ParameterReader } from './request-parameters.js';

/** A bound operation as an app serves it, with what is found out about it once. */
export interface ServedOperation extends BoundOperation {
  /** As log lines and metrics name it. */
  readonly name: string;
  readonly reader: ParameterReader;
  /** Its path as the router writes it. */
  readonly route: string;
}

/** The operations as an app serves them. */
export function serveOperations(operations: readonly BoundOperation[]): ServedOperation[] {
  return operations.map((bound) => {
    const { method, path } = bound.declared;
    const route = path.replace(/\{(\w+)\}/g, ':$1');
    return { ...bound, name: `${method} ${path}`, route, reader: new ParameterReader(bound.declared) };
  });
}

/** The methods with which a path can be asked; none for a path that nothing is under. */
export function allowedMethods(operations: readonly ServedOperation[], path: string): string[] {
  const parts = path.split('/');
  const matching = operations.filter(({ declared }) => matches(declared.path.split('/'), parts));
  return [...new Set(matching.flatMap(({ declared }) => servedMethods(declared.method)))];
}

/** The methods that an operation answers: whoever may read something may ask for the head of it alone. */
export function servedMethods(method: Method): (Method | 'HEAD')[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  if (pattern.length !== parts.length) return false;
  return pattern.every((part, index) => (part.startsWith('{') ? parts[index] !== '' : part === parts[index]));
}
