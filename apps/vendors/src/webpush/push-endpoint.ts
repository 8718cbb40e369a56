import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DeliveryLog } from '../deliveries/delivery-log.js';
import type { Faults } from '../faults/faults.js';
import { actOnFault } from '../http/act-on-fault.js';
import { readRequestBody } from '../http/read-and-answer.js';
import { type PushServiceReason, pushServiceReasons } from '../reasons/push-service-reasons.js';
import type { RequestCounts } from '../statistics.js';
import type { Subscriptions } from './subscriptions.js';
import { verifyVapid } from './verify-vapid.js';

export interface PushEndpointContext {
  readonly subscriptions: Subscriptions;
  readonly deliveries: DeliveryLog;
  readonly faults: Faults;
  readonly counts: RequestCounts;
  readonly clock: () => number;
  readonly log: (message: string) => void;
  /** Resets the connection of a request, below TLS. */
  readonly reset: (request: IncomingMessage) => void;
}

interface Refusal {
  readonly reason: PushServiceReason;
  readonly problem: string;
}

/** Path of a subscription. The last segment can be any name. The path may have a query, as in UnifiedPush. */
const subscriptionPath = /^\/push\/[\w.~-]{1,200}(?:\?[\w.~=&-]{1,200})?$/;
const maximumBodyBytes = 4096;
const urgencies: ReadonlySet<unknown> = new Set([undefined, 'very-low', 'low', 'normal', 'high']);
const topicForm = /^[\w-]{1,32}$/;
/** Size of salt, record size, key length and key (https://www.rfc-editor.org/rfc/rfc8188#section-2.1). */
const contentHeaderBytes = 86;

/**
 * Handles a push message to a subscription as a push service would. Does not decrypt the body.
 * https://www.rfc-editor.org/rfc/rfc8030#section-5
 */
export function handlePushRequest(
  request: IncomingMessage,
  response: ServerResponse,
  context: PushEndpointContext,
): void {
  const { counts, faults, clock, deliveries, log, reset } = context;
  counts.requests += 1;
  readRequestBody(request, maximumBodyBytes, (body) => {
    const endpoint = `https://${request.headers.host}${request.url}`;
    const refusal = checkRequest(request, body, context);
    if (refusal !== undefined) {
      log(`webpush: refused with ${refusal.reason}, because: ${refusal.problem}`);
      answerRefusal(response, counts, pushServiceReasons[refusal.reason], refusal);
      return;
    }
    actOnFault({
      request,
      response,
      counts,
      verdict: faults.decide({ vendor: 'webpush', token: endpoint }),
      process() {
        const bodyText = JSON.stringify(body?.toString('base64'));
        const { headers } = request;
        deliveries.add({
          vendor: 'webpush',
          token: endpoint,
          headers,
          bodyText,
          receivedAtMilliseconds: clock(),
        });
      },
      reset: () => reset(request),
      answerSuccess() {
        counts.countAnswer('201');
        response.writeHead(201, { location: `${endpoint}/message`, 'content-length': 0 }).end();
      },
      answerFault({ status, reason, body: text = reason, retryAfter }) {
        answerRefusal(response, counts, status, { reason, problem: text }, retryAfter);
      },
    });
  });
}

function checkRequest(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer | undefined,
  { subscriptions, clock }: PushEndpointContext,
): Refusal | undefined {
  if (method !== 'POST') return { reason: 'MethodNotAllowed', problem: 'a push must be a POST request' };
  if (!subscriptionPath.test(url)) return { reason: 'NotFound', problem: `there is no subscription ${url}` };
  const origin = `https://${headers.host}`;
  const vapid = verifyVapid(headers.authorization, { origin, nowMilliseconds: clock() });
  if ('problem' in vapid) return { reason: 'Unauthorized', problem: vapid.problem };
  if (!subscriptions.isBoundTo(url, vapid.publicKey)) {
    return { reason: 'Forbidden', problem: 'the subscription is bound to another VAPID key' };
  }
  if (body === undefined) {
    return { reason: 'PayloadTooLarge', problem: `the body is more than ${maximumBodyBytes} bytes` };
  }
  if (headers['content-encoding'] !== 'aes128gcm' || body.length <= contentHeaderBytes) {
    return { reason: 'UnsupportedEncoding', problem: 'the body must be aes128gcm' };
  }
  if (!/^\d{1,10}$/.test(String(headers.ttl)))
    return { reason: 'BadRequest', problem: 'TTL must be seconds' };
  const isKnown = urgencies.has(headers.urgency);
  const isTopic = headers.topic === undefined || topicForm.test(String(headers.topic));
  return isKnown && isTopic ? undefined : { reason: 'BadRequest', problem: 'Urgency or Topic is malformed' };
}

function answerRefusal(
  response: ServerResponse,
  counts: RequestCounts,
  status: number,
  { reason, problem }: { readonly reason: string; readonly problem: string },
  retryAfter?: string,
): void {
  counts.countAnswer(`${status} ${reason}`);
  response.writeHead(status, {
    'content-type': 'text/plain; charset=UTF-8',
    'content-length': Buffer.byteLength(problem),
    ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
  });
  response.end(problem);
}
