import type { RepeatedRequests } from './attack.js';
import { base64 } from './attack-requests.js';
import { crowdRequests } from './crowd-requests.js';
import { longText, type MemberData } from './member-data.js';
import { type ExpensiveRequests, get, patch, post } from './member-requests.js';
import type { RefusedRequest } from './refusals.js';

const requestsAtOnce = 30;
const maximumIds = 5000;
/** Number of rounds per attack. Must be even, because some requests come in pairs that undo each other. */
const rounds = 12;

const narrowTo = (name: string, ...more: readonly (readonly [string, string])[]) =>
  JSON.stringify([['channel', name], ...more]);
/** The text of about ten thousand characters that takes the longest to render. */
const costlyText = '**`a`** :smile: '.repeat(600);

/** The most expensive requests to a server, each as large as allowed. */
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
  'another user searches for words that every message contains': (data) => [
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
  'another user stars all messages of a channel': (data) =>
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
  'another user marks all messages as read, then as unread': (data) =>
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
  'another user fetches the maximum number of events': (data) => [
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
  'another user opens queues with all initial state': (data) => [post('register', data, {})],
  'another user sends typing notifications to many subscribers': (data) => [
    post('typing', data, { op: 'start', type: 'channel', stream_id: String(data.crowd.id), topic: 'crowd' }),
  ],
};

function sending(data: MemberData, content: string): string {
  const to = JSON.stringify(data.crowd.name);
  return post('messages', data, { type: 'channel', to, topic: 'crowd', content });
}

/** Possible responses to concurrent requests, the most frequent one first. */
const answersOf: Readonly<Record<string, readonly string[]>> = {
  // 400 if another request has moved the topic in the meantime.
  'another user moves a long topic': ['200', '400 BAD_REQUEST'],
  'another user opens queues with all initial state': ['200', '429 RATE_LIMIT_HIT'],
  // 400 if another request has created the group, or changed its members, in the meantime.
  'another user creates groups of all users': ['200', '400 BAD_REQUEST'],
  'another user adds all users to a group and removes them': ['200', '400 BAD_REQUEST'],
  // 400 if opening another queue has removed this queue.
  'another user fetches the maximum number of events': ['200', '400 BAD_EVENT_QUEUE_ID'],
};

/** Keeps thirty requests in flight: sends the next request after each response. */
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

/** A request with its expected responses. */
export function answered(what: string, request: string): RefusedRequest {
  return { answers: answersOf[what] ?? ['200'], request };
}
