import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateCredential, hashCredential } from '@waxwing/service/config';
import type { RunningService } from '@waxwing/service/lifecycle';
import { host } from '../quickstart-environments.js';
import { guardPage } from './guard-page.js';
import { type PageFile, readPageFiles } from './page-files.js';
import { answerPage, answerWith, type PageContext } from './page-routes.js';

export interface RunningPage extends RunningService {
  /** Link to the page. Anyone with the link can send notifications and rotate keys until the quickstart ends. */
  readonly link: string;
}

const maximumBodyBytes = 64 * 1024;

const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  // Needed because the URL contains the token.
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

interface Serving {
  readonly context: PageContext;
  readonly files: ReadonlyMap<string, PageFile>;
  readonly tokenHash: string;
}

/** Serves the browser phone's page on loopback, under an unguessable URL. */
export async function startPage(port: number, context: PageContext): Promise<RunningPage> {
  const token = generateCredential().reveal();
  const serving = { context, files: await readPageFiles(), tokenHash: hashCredential(token) };
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    answer(serving, request, response).catch((error: Error) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else answerWith(response, { error: error.message }, 500);
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    link: `http://${host}:${(server.address() as AddressInfo).port}/${token}/`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const guarded = guardPage(request, serving.tokenHash);
  if (guarded.kind === 'refused') return answerWith(response, { error: guarded.sentence }, guarded.status);
  if (
    Number(request.headers['content-length'] ?? 0) > maximumBodyBytes ||
    'transfer-encoding' in request.headers
  ) {
    return answerWith(response, { error: `a request body must not exceed ${maximumBodyBytes} bytes` }, 413);
  }
  const { path, query } = guarded;
  const file = request.method === 'GET' ? serving.files.get(path) : undefined;
  if (file !== undefined) {
    response.writeHead(200, { 'content-type': file.contentType }).end(file.bytes);
    return;
  }
  if (await answerPage(serving.context, path, { request, response, query })) return;
  answerWith(response, { error: `there is nothing at ${request.method} ${path}` }, 404);
}
