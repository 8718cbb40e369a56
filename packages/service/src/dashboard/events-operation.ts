import { noAnswer, noParameters, operation, RawAnswer } from '../http/index.js';
import { administrator } from './administrator.js';
import type { DashboardParts } from './dashboard-parts.js';

const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Prevents nginx from buffering the events.
  'x-accel-buffering': 'no',
};

/** Sends the overview as server-sent events: immediately, and then every five seconds until the session ends. */
export const followEvents = operation({
  method: 'GET',
  path: '/admin/api/events',
  summary: 'Streams the overview as server-sent events.',
  actor: administrator,
  parameters: noParameters,
  answer: noAnswer,
  answerType: 'text/event-stream',
  codes: ['SERVICE_UNAVAILABLE'],
  // Each request gets a separate lane, because in a shared lane a new stream would end the previous one.
  lane: (head) => `events ${head.id}`,
  handle: async ({ streams }: DashboardParts, { actor, signal }) =>
    new RawAnswer(200, headers, streams.open(actor, signal)),
});
