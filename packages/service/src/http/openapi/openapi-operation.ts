import { stringifyJson } from '@waxwing/protocol';
import {
  type AnyOperation,
  anyone,
  noAnswer,
  noParameters,
  operation,
  RawAnswer,
} from '../operations/operation.js';
import { type OpenApiInfo, openApiDocument } from './openapi.js';

const headers = {
  'cache-control': 'public, max-age=300',
  'content-type': 'application/json; charset=utf-8',
};

/** `GET /api/openapi.json`: returns the OpenAPI document for an app's operations. Requires no credentials. */
export function openApiOperation(info: OpenApiInfo, operations: readonly AnyOperation[]) {
  let text: string | undefined;
  return operation({
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'Returns this document.',
    actor: anyone,
    parameters: noParameters,
    answer: noAnswer,
    codes: [],
    async handle(_context: unknown) {
      text ??= `${stringifyJson(openApiDocument(info, operations))}\n`;
      return new RawAnswer(200, headers, text);
    },
  });
}
