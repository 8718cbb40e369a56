import type { RepeatedRequests } from './attack.js';
import { base64 } from './attack-requests.js';
import { crowdRequests } from './crowd-requests.js';
import { longText, type MemberData } from './member-data.js';
import { type ExpensiveRequests, get, patch, post } from './member-requests.js';
import type { RefusedRequest } from './refusals.js';

const requestsAtOnce = 30;
const maximumIds = 5000;
/** Even, so that pairs of requests that undo each other are complete. */
const rounds = 12;

const narrowTo = (name: string, ...more: readonly (readonly [string, string])[]) =>
  JSON.stringify([['channel', name], ...more]);
/** The text of ten thousand characters that takes longest to render. */
const costlyText = '**`a`** :smile: '.repeat(600);

/** The most expensive requests for a server, each as large as allowed. */
export const expensiveRequests: ExpensiveRequests = {
  'another user reads the history of a message': (data) => [
    get(`messages/${data.oftenEdited}/history`, data),
  ],
  'another user reads five thousand messages': (data) => [
    get('messages', data, {
      anchor: 'newest',
      num_before: '5000',
      num_after: '0',
      narrow: narrowTo(data.library.name),
    }),
  ],
  'another user reads messages by their ids': (data) => [
    get('messages', data, { message_ids: JSON.stringify(data.library.messages.slice(-1000)) }),
  ],
  'another user reads messages that were edited often': (data) => [
    get('messages', data, { message_ids: JSON.stringify(data.edited) }),
  ],
  'another user searches for words that every message has': (data) => [
    get('messages', data, {
      anchor: 'newest',
      num_before: '1000',
      num_after: '0',
      narrow: narrowTo(data.library.name, ['search', 'w1 w2 w3']),
    }),
  ],
  'another user renders long texts': (data) => [post('messages/render', data, { content: costlyText })],
  'another user sends long texts to many subscribers': (data) => [sending(data, costlyText)],
  'another user sends short texts to many subscribers': (data) => [sending(data, 'hello')],
  'another user mentions many subscribers': (data) => [sending(data, `hello @*${data.crowd.name}*`)],
  'another user edits a long text': (data) =>
    [0, 1].map((seed) =>
      patch(`messages/${data.library.messages[0]}`, data, { content: longText(9900, seed * 1000) }),
    ),
  'another user moves a long topic': (data) =>
    ['north', 'east', 'south', 'west'].map((topic) =>
      patch(`messages/${data.moving.messages[0]}`, data, {
        topic,
        propagate_mode: 'change_all',
        send_notification_to_new_thread: 'false',
      }),
    ),
  'another user stars the messages of a channel': (data) =>
    ['add', 'remove'].map((op) =>
      post('messages/flags/narrow', data, {
        op,
        flag: 'starred',
        anchor: 'newest',
        num_before: '5000',
        num_after: '0',
        narrow: narrowTo(data.moving.name),
      }),
    ),
  'another user marks all messages as read and as unread': (data) =>
    ['add', 'remove'].map((op) =>
      post('messages/flags/narrow', data, {
        op,
        flag: 'read',
        anchor: 'newest',
        num_before: '5000',
        num_after: '0',
      }),
    ),
  'another user stars messages by their ids': (data) =>
    ['add', 'remove'].map((op) =>
      post('messages/flags', data, {
        op,
        flag: 'starred',
        messages: JSON.stringify(data.moving.messages.slice(-maximumIds)),
      }),
    ),
  'another user lists all users with their profiles': (data) => [
    get('users', data, { include_custom_profile_fields: 'true' }),
  ],
  'another user fetches as many events as there may be': (data) => [
    get('events', data, { queue_id: data.queueId, last_event_id: '-1', dont_block: 'true' }),
  ],
  'another user lists the topics of a channel': (data) => [get(`users/me/${data.library.id}/topics`, data)],
  'another user lists channels with all subscribers': (data) => [
    get('users/me/subscriptions', data, { include_subscribers: 'true' }),
  ],
  'another user lists the members of a channel': (data) => [get(`streams/${data.crowd.id}/members`, data)],
  'another user lists many files': (data) => [get('attachments', data)],
  'another user sends links to many files': (data) => [
    post('messages', data, {
      type: 'channel',
      to: JSON.stringify(data.crowd.name),
      topic: 'crowd',
      content: data.fileLinks,
    }),
  ],
  ...crowdRequests,
  'another user lists groups of all users': (data) => [get('user_groups', data)],
  'another user opens queues with everything': (data) => [post('register', data, {})],
  'another user types to many subscribers': (data) => [
    post('typing', data, { op: 'start', type: 'channel', stream_id: String(data.crowd.id), topic: 'crowd' }),
  ],
};

function sending(data: MemberData, content: string): string {
  const to = JSON.stringify(data.crowd.name);
  return post('messages', data, { type: 'channel', to, topic: 'crowd', content });
}

/** Possible answers to concurrent requests, the usual one first. */
const answersOf: Readonly<Record<string, readonly string[]>> = {
  // 400 if another request has moved the topic.
  'another user moves a long topic': ['200', '400 BAD_REQUEST'],
  'another user opens queues with everything': ['200', '429 RATE_LIMIT_HIT'],
  // 400 if another request has created the group or changed its members.
  'another user creates groups of all users': ['200', '400 BAD_REQUEST'],
  'another user adds all users to a group and removes them': ['200', '400 BAD_REQUEST'],
  // 400 if opening other queues has removed this queue.
  'another user fetches as many events as there may be': ['200', '400 BAD_EVENT_QUEUE_ID'],
};

/** Keeps thirty requests in flight: each answer is followed by the next request. */
export function thirtyAtOnce(
  port: number,
  requests: readonly (readonly [what: string, RefusedRequest])[],
): RepeatedRequests {
  return {
    kind: 'flood',
    port,
    connections: requestsAtOnce,
    depth: 1,
    endsConnections: false,
    requests: requests.map(([what, { answers, request }]) => ({ what, answers, text: base64(request) })),
  };
}

/** All kinds of expensive requests, in round-robin order. A kind with several requests cycles through them. */
export function everyExpensiveRequest(data: MemberData): (readonly [what: string, RefusedRequest])[] {
  const kinds = Object.entries(expensiveRequests).map(
    ([what, requestsOf]) => [what, requestsOf(data)] as const,
  );
  return Array.from({ length: rounds }, (_, round) =>
    kinds.map(([what, texts]): [string, RefusedRequest] => [
      what,
      answered(what, texts[round % texts.length] as string),
    ]),
  ).flat();
}

/** A request with its expected answers. */
export function answered(what: string, request: string): RefusedRequest {
  return { answers: answersOf[what] ?? ['200'], request };
}
