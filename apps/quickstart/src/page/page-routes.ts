import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { runRelayCommand } from '@waxwing/relay';
import { runServerCommand } from '@waxwing/server';
import type { Environment } from '@waxwing/service/config';
import { captureJson } from '../captured-command.js';
import { vapidKeyOf } from '../provision-relay.js';
import type { QuickstartUser } from '../provision-server.js';
import { findHolders, type SearchedStores } from './find-holders.js';
import { forward } from './forward.js';
import { streamPushes } from './push-stream.js';

/** Data and services of the page's API. */
export interface PageContext extends SearchedStores {
  readonly serverUrl: string;
  readonly serverEnvironment: Environment;
  readonly relayEnvironment: Environment;
  /** The phone's user. */
  readonly user: QuickstartUser;
  /** Shell command that sends the user a notification. */
  readonly sendCommand: string;
}

export interface PageRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
}

type Route = (context: PageContext, request: PageRequest) => Promise<void>;

const routes: Readonly<Record<string, Route>> = {
  'GET api/phone': showPhone,
  'GET api/pushes': async ({ vendorsUrl }, { response, query }) =>
    streamPushes(response, query.get('token') ?? '', vendorsUrl),
  'POST api/holders': showHolders,
  'POST api/send': send,
  'GET api/keys': async ({ relayEnvironment }, { response }) =>
    answerWith(response, await captureJson<object>(runRelayCommand, relayEnvironment, ['keys', 'list'])),
  'POST api/keys': async ({ relayEnvironment }, { response }) =>
    answerWith(response, await captureJson<object>(runRelayCommand, relayEnvironment, ['keys', 'rotate'])),
};

const serverPrefix = 'server';

/** Handles an API request from the page. Resolves to `false`, without responding, if no route matches. */
export async function answerPage(context: PageContext, path: string, asked: PageRequest): Promise<boolean> {
  const { request, response, query } = asked;
  if (path.startsWith(`${serverPrefix}/`)) {
    const { serverUrl } = context;
    return forward(request, response, { serverUrl, path: path.slice(serverPrefix.length), query });
  }
  const name = `${request.method} ${path}`;
  if (!Object.hasOwn(routes, name)) return false;
  await (routes[name] as Route)(context, asked);
  return true;
}

export function answerWith(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Responds with what a real app would know: its user's credentials and the relay's public keys. */
async function showPhone(context: PageContext, { response }: PageRequest): Promise<void> {
  const { serverUrl, relayEnvironment, user, sendCommand } = context;
  const keys = await captureJson<object>(runRelayCommand, relayEnvironment, ['keys', 'export-public']);
  const vapid_public_key = await vapidKeyOf(relayEnvironment);
  const { user_id, email, api_key } = user;
  const signIn = { realm_url: serverUrl, user_id, email, api_key };
  answerWith(response, { ...signIn, keys, vapid_public_key, send_command: sendCommand });
}

async function showHolders(context: PageContext, { request, response }: PageRequest): Promise<void> {
  const { text: said, token } = (await readForm(request)) as { text: string; token: string };
  const [ofText, ofToken] = await Promise.all([
    findHolders(said, token, context),
    findHolders(token, token, context),
  ]);
  answerWith(response, { text: ofText, token: ofToken });
}

async function send(
  { serverEnvironment, user }: PageContext,
  { request, response }: PageRequest,
): Promise<void> {
  const { text: said = '' } = await readForm(request);
  const argv = ['push', 'send', '--user', user.email, '--text', said];
  answerWith(response, await captureJson<object>(runServerCommand, serverEnvironment, argv));
}

async function readForm(request: IncomingMessage): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(await text(request)));
}
