import { createHash } from 'node:crypto';
import {
  type AnyOperation,
  anyone,
  noAnswer,
  noParameters,
  operation,
  RawAnswer,
} from '../../operations/operation.js';
import { type OpenApiInfo, openApiDocument } from '../openapi.js';
import type { ReferenceDocument } from './document.js';
import { renderReference } from './reference-page.js';
import { style } from './style.js';

const styleHash = createHash('sha256').update(style).digest('base64');

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'public, max-age=300',
};

/**
 * `GET /docs`: returns the API reference for an app's operations as an HTML page. Requires no credentials and no
 * scripts.
 */
export function referenceOperation(info: OpenApiInfo, operations: readonly AnyOperation[]) {
  let text: string | undefined;
  return operation({
    method: 'GET',
    path: '/docs',
    summary: 'Returns this reference as a page.',
    actor: anyone,
    parameters: noParameters,
    answer: noAnswer,
    answerType: 'text/html',
    codes: [],
    async handle(_context: unknown) {
      text ??= renderReference(openApiDocument(info, operations) as unknown as ReferenceDocument);
      return new RawAnswer(200, headers, text);
    },
  });
}
