import { type JsonObject, stringifyJson } from '@waxwing/protocol';
import type { ReceivedRequest } from './received-request.js';
import type { ParameterReader } from './request-parameters.js';

/** Returns the body of a success. The `extra` fields are appended to the answer's own fields. */
export function successBody(answer: JsonObject, extra: JsonObject = {}): string {
  return `${stringifyJson({ result: 'success', msg: '', ...answer, ...extra })}\n`;
}

/** Returns the response field that lists the parameters that the operation ignored; empty if there are none. */
export function ignoredParameters(received: ReceivedRequest, reader: ParameterReader): JsonObject {
  const ignored = received.ignoredParameters(reader);
  return ignored.length > 0 ? { ignored_parameters_unsupported: ignored } : {};
}
