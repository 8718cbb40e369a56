import { type JsonObject, stringifyJson } from '@waxwing/protocol';
import type { ReceivedRequest } from './received-request.js';
import type { ParameterReader } from './request-parameters.js';

/** Returns the body of a success. The `extra` fields follow the answer's own fields. */
export function successBody(answer: JsonObject, extra: JsonObject = {}): string {
  return `${stringifyJson({ result: 'success', msg: '', ...answer, ...extra })}\n`;
}

/** Returns the answer field that lists the parameters which the operation ignores; empty if it ignores none. */
export function ignoredParameters(received: ReceivedRequest, reader: ParameterReader): JsonObject {
  const ignored = received.ignoredParameters(reader);
  return ignored.length > 0 ? { ignored_parameters_unsupported: ignored } : {};
}
