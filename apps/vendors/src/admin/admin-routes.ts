import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describeForeignRequest } from '@waxwing/service/http';
import { type DeliveryLog, formatDelivery, type TakenNotification } from '../deliveries/delivery-log.js';
import type { Faults } from '../faults/faults.js';
import { FaultScriptError, parseFaultScript } from '../faults/parse-fault-rules.js';
import { answerJson, readRequestBody } from '../http/read-and-answer.js';

export interface AdminContext {
  /** Address to which the listener is bound. */
  readonly host: string;
  readonly deliveries: DeliveryLog;
  readonly faults: Faults;
  readonly log: (message: string) => void;
  statistics(): object;
}

type Route = (request: IncomingMessage, response: ServerResponse, context: AdminContext) => void;

const maximumScriptBytes = 64 * 1024 * 1024;
const pageCharacters = 64 * 1024;

/** Routes of the stand-ins' admin API. The real vendors have no such API. */
const routes: Readonly<Record<string, Readonly<Record<string, Route>>>> = {
  '/deliveries': { GET: showDeliveries, DELETE: emptyDeliveries },
  '/faults': { GET: showFaults, PUT: replaceFaults, DELETE: clearFaults },
  '/stats': { GET: showStatistics },
};

/** Handles an admin request. @returns `false`, without sending a response, if the path is not an admin path. */
export function handleAdminRequest(
  request: IncomingMessage,
  response: ServerResponse,
  context: AdminContext,
): boolean {
  const [path = ''] = (request.url ?? '').split('?');
  const methods = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (!methods) return false;
  const route = methods[request.method ?? ''];
  const foreign = describeForeignRequest(request.headers, context.host);
  if (foreign !== undefined) {
    // Discard the rest of the body, because an unread body would block the connection.
    request.resume();
    answerError(response, 403, foreign);
  } else if (route) {
    route(request, response, context);
  } else {
    const allowed = Object.keys(methods).join(', ');
    answerError(response, 405, `${path} accepts ${allowed}, not ${request.method}`, { allow: allowed });
  }
  return true;
}

export function answerError(
  response: ServerResponse,
  status: number,
  error: string,
  headers?: Readonly<Record<string, string>>,
): void {
  answerJson(response, status, JSON.stringify({ error }), headers);
}

function showDeliveries(request: IncomingMessage, response: ServerResponse, context: AdminContext): void {
  const query = new URLSearchParams((request.url ?? '').split('?')[1]);
  const deliveries = context.deliveries.list(query.get('token') ?? undefined);
  response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8' });
  const pages = Readable.from(formatPages(deliveries));
  pipeline(pages, response).catch((error: Error) =>
    context.log(`/deliveries was interrupted: ${error.message}`),
  );
}

/**
 * Yields the response in chunks of about 64 Ki characters, because a single string could exceed the maximum string
 * length.
 */
function* formatPages(deliveries: readonly TakenNotification[]): Generator<string> {
  let page = '{"deliveries":[';
  for (const [index, delivery] of deliveries.entries()) {
    page += `${index === 0 ? '' : ','}${formatDelivery(delivery)}`;
    if (page.length < pageCharacters) continue;
    yield page;
    page = '';
  }
  yield `${page}]}`;
}

function emptyDeliveries(
  _request: IncomingMessage,
  response: ServerResponse,
  { deliveries }: AdminContext,
): void {
  const deleted = deliveries.kept;
  deliveries.clear();
  answerJson(response, 200, JSON.stringify({ deleted }));
}

function showFaults(_request: IncomingMessage, response: ServerResponse, { faults }: AdminContext): void {
  const { rules, seed } = faults.script;
  answerJson(response, 200, JSON.stringify({ rules: rules.map(({ source }) => source), seed }));
}

function replaceFaults(request: IncomingMessage, response: ServerResponse, context: AdminContext): void {
  readRequestBody(request, maximumScriptBytes, (body) => {
    if (body === undefined) {
      answerError(response, 413, `the rules are longer than ${maximumScriptBytes} bytes`);
      return;
    }
    try {
      context.faults.replace(parseFaultScript(JSON.parse(body.toString('utf8'))));
    } catch (error) {
      if (error instanceof SyntaxError) answerError(response, 400, `the body is not JSON: ${error.message}`);
      else if (error instanceof FaultScriptError) answerError(response, 400, error.message);
      else throw error;
      return;
    }
    showFaults(request, response, context);
  });
}

function clearFaults(request: IncomingMessage, response: ServerResponse, context: AdminContext): void {
  context.faults.replace({ rules: [] });
  showFaults(request, response, context);
}

function showStatistics(_request: IncomingMessage, response: ServerResponse, context: AdminContext): void {
  answerJson(response, 200, JSON.stringify(context.statistics()));
}
