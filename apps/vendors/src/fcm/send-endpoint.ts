import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DeliveryLog } from '../deliveries/delivery-log.js';
import type { Faults } from '../faults/faults.js';
import { actOnFault } from '../http/act-on-fault.js';
import { answerJson, readRequestBody } from '../http/read-and-answer.js';
import { isObject } from '../json-web-token.js';
import {
  formatGoogleError,
  type GoogleErrorName,
  type GoogleErrorOptions,
  googleErrors,
} from '../reasons/google-errors.js';
import type { RequestCounts } from '../statistics.js';
import type { AccessTokens } from './access-tokens.js';
import { type CheckedMessage, checkMessage } from './check-message.js';
import type { Installations } from './installations.js';

export interface SendEndpointContext {
  readonly projectId: string;
  readonly accessTokens: AccessTokens;
  readonly installations: Installations;
  readonly deliveries: DeliveryLog;
  readonly faults: Faults;
  readonly counts: RequestCounts;
  readonly clock: () => number;
  readonly log: (message: string) => void;
}

interface GoogleRefusal {
  readonly name: GoogleErrorName;
  readonly options: GoogleErrorOptions;
}

const maximumBodyBytes = 64 * 1024;
const sendPath = /^\/v1\/projects\/([^/?#]+)\/messages:send(?:\?|$)/;
// https://cloud.google.com/resource-manager/docs/creating-managing-projects
const wellFormedProjectId = /^[a-z][a-z0-9-]{4,28}[a-z0-9]$/;

/**
 * Handles `POST /v1/projects/{project}/messages:send`.
 * https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send
 */
export function handleSendRequest(
  request: IncomingMessage,
  response: ServerResponse,
  context: SendEndpointContext,
): void {
  context.counts.requests += 1;
  readRequestBody(request, maximumBodyBytes, (body) => {
    const refusal = checkCaller(request, context);
    const message = refusal ?? readMessage(body);
    if ('name' in message) {
      answerRefusal(response, message, context);
      return;
    }
    const { target, bodyText, isValidateOnly } = message;
    if (context.installations.hasEnded(target)) {
      answerRefusal(response, { name: 'UNREGISTERED', options: {} }, context);
      return;
    }
    actOnFault({
      request,
      response,
      counts: context.counts,
      verdict: context.faults.decide({ vendor: 'fcm', token: target }),
      process() {
        if (isValidateOnly) return;
        context.installations.sentTo(target);
        recordDelivery(request, target, bodyText, context);
      },
      answerSuccess() {
        context.counts.countAnswer('200');
        const id = isValidateOnly ? 'fake_message_id' : makeMessageId(context.clock());
        answerJson(response, 200, `{"name":"projects/${context.projectId}/messages/${id}"}`);
      },
      answerFault({ status, reason, message: text, field, body: rawBody, retryAfter }) {
        context.counts.countAnswer(`${status} ${reason}`);
        const headers = retryAfter === undefined ? undefined : { 'retry-after': retryAfter };
        const answer = rawBody ?? formatGoogleError(reason, { httpStatus: status, message: text, field });
        answerJson(response, status, answer, headers);
      },
    });
  });
}

function checkCaller(
  request: IncomingMessage,
  { accessTokens, projectId }: SendEndpointContext,
): GoogleRefusal | undefined {
  const [, project] = sendPath.exec(request.url ?? '') ?? [];
  if (project === undefined || request.method !== 'POST') return { name: 'NOT_FOUND', options: {} };
  const [, accessToken] = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (accessToken === undefined) {
    return unauthenticated(
      'CREDENTIALS_MISSING',
      'Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.',
    );
  }
  if (!accessTokens.isInForce(accessToken)) return unauthenticated('ACCESS_TOKEN_TYPE_UNSUPPORTED');
  if (project === projectId) return undefined;
  if (!wellFormedProjectId.test(project)) return { name: 'NOT_FOUND', options: {} };
  const permission = 'cloudmessaging.messages.create';
  const resource = `//cloudresourcemanager.googleapis.com/projects/${project}`;
  const message = `Permission '${permission}' denied on resource '${resource}' (or it may not exist).`;
  const info = errorInfo('IAM_PERMISSION_DENIED', 'iam.googleapis.com', { permission, resource });
  return { name: 'PERMISSION_DENIED', options: { message, details: [info] } };
}

function unauthenticated(reason: string, message?: string): GoogleRefusal {
  const metadata = { service: 'fcm.googleapis.com', method: 'google.firebase.fcm.v1.FcmService.SendMessage' };
  return {
    name: 'UNAUTHENTICATED',
    options: { message, details: [errorInfo(reason, 'googleapis.com', metadata)] },
  };
}

function errorInfo(reason: string, domain: string, metadata: object): object {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain, metadata };
}

function readMessage(body: Buffer | undefined): (CheckedMessage & { bodyText: string }) | GoogleRefusal {
  if (body === undefined) {
    return malformed(`Request payload size exceeds the limit: ${maximumBodyBytes} bytes.`);
  }
  if (!isUtf8(body)) return malformed('Invalid JSON payload received. It is not UTF-8.');
  const bodyText = body.toString('utf8');
  let parsed: unknown;
  try {
    parsed = JSON.parse(bodyText);
  } catch (error) {
    return malformed(`Invalid JSON payload received. ${(error as SyntaxError).message}`);
  }
  if (!isObject(parsed))
    return malformed('Invalid JSON payload received. Unknown name "": Root element must be a message.');
  const checked = checkMessage(parsed);
  if (!('field' in checked)) return { ...checked, bodyText };
  const { message, field, isFcmError } = checked;
  return { name: 'INVALID_ARGUMENT', options: { message, field, isFcmError } };
}

function malformed(message: string): GoogleRefusal {
  return { name: 'INVALID_ARGUMENT', options: { message, isFcmError: false } };
}

function answerRefusal(
  response: ServerResponse,
  { name, options }: GoogleRefusal,
  { counts, log }: SendEndpointContext,
): void {
  const { httpStatus, message } = googleErrors[name];
  log(`fcm: refused with ${name}, because: ${options.message ?? message}`);
  counts.countAnswer(`${httpStatus} ${name}`);
  const headers =
    name === 'UNAUTHENTICATED'
      ? { 'www-authenticate': 'Bearer realm="https://accounts.google.com/"' }
      : undefined;
  answerJson(response, httpStatus, formatGoogleError(name, options), headers);
}

function recordDelivery(
  { headers }: IncomingMessage,
  token: string,
  bodyText: string,
  { deliveries, clock }: SendEndpointContext,
): void {
  deliveries.add({ vendor: 'fcm', token, headers, bodyText, receivedAtMilliseconds: clock() });
}

function makeMessageId(nowMilliseconds: number): string {
  return `0:${nowMilliseconds}000%${randomUUID().replaceAll('-', '')}`;
}
