import { Readable } from 'node:stream';
import { ProtocolError } from '@waxwing/protocol';
import { z } from 'zod';
import { anyone, noAnswer, noParameters, operation, RawAnswer } from '../http/index.js';
import type { DashboardParts } from './dashboard-parts.js';
import type { PageFile } from './page-files.js';

type Context = Pick<DashboardParts, 'pageFiles'>;

const securityHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

const notBuilt =
  'The page of the dashboard is not built: run "npm run page" in the checkout, then restart this program.\n';
// A cached file never becomes stale, because Vite puts a hash of the content into the file name.
const forAYear = 'public, max-age=31536000, immutable';
const fileName = z.string().max(200);

/** Redirects `/admin` to `/admin/`, because the page's links are relative to it. */
export const redirectToPage = operation({
  method: 'GET',
  path: '/admin',
  summary: 'Redirects to the dashboard.',
  actor: anyone,
  parameters: noParameters,
  answer: noAnswer,
  codes: [],
  handle: async (_context: Context) =>
    new RawAnswer(308, { ...securityHeaders, location: '/admin/' }, undefined),
});

/** Returns the dashboard's page, or HTTP 503 with an explanation if it is not built. */
export const showPage = operation({
  method: 'GET',
  path: '/admin/',
  summary: 'Returns the page of the dashboard.',
  actor: anyone,
  parameters: noParameters,
  answer: noAnswer,
  answerType: 'text/html',
  codes: [],
  async handle({ pageFiles }: Context) {
    const page = pageFiles.get('index.html');
    if (page !== undefined) return answerFile(page, 'no-store');
    const plain = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
    return new RawAnswer(503, { ...securityHeaders, ...plain }, notBuilt);
  },
});

/** Returns a file that is stored next to the page, such as its icon. */
export const showPageFile = operation({
  method: 'GET',
  path: '/admin/{file}',
  summary: 'Returns a file of the dashboard.',
  actor: anyone,
  parameters: z.object({ file: fileName }),
  answer: noAnswer,
  answerType: 'application/octet-stream',
  codes: ['NOT_FOUND'],
  handle: async ({ pageFiles }: Context, { parameters: { file } }) =>
    answerFile(pageFiles.get(file), 'no-cache'),
});

/** Returns a script, style or image of the page. */
export const showPageAsset = operation({
  method: 'GET',
  path: '/admin/assets/{file}',
  summary: 'Returns a script, style or image of the dashboard.',
  actor: anyone,
  parameters: z.object({ file: fileName }),
  answer: noAnswer,
  answerType: 'application/octet-stream',
  codes: ['NOT_FOUND'],
  handle: async ({ pageFiles }: Context, { parameters: { file } }) =>
    answerFile(pageFiles.get(`assets/${file}`), forAYear),
});

function answerFile(file: PageFile | undefined, cacheControl: string): RawAnswer {
  if (file === undefined) throw new ProtocolError('NOT_FOUND');
  const { bytes, contentType } = file;
  const headers = {
    'content-type': contentType,
    'content-length': String(bytes.length),
    'cache-control': cacheControl,
  };
  return new RawAnswer(200, { ...securityHeaders, ...headers }, Readable.from([bytes]));
}
