import { randomUUID } from 'node:crypto';
import { bouncerKeysPath, registerPushDevicePath, testNotificationPath } from '@waxwing/protocol';
import { addUsers } from '../../support/add-users.js';
import type { ConstellationUser } from '../../support/constellation.js';
import { ask, basicAuthorization } from '../crash/ask.js';
import { requestText } from './attack-requests.js';
import type { AttackWorld } from './attack-world.js';
import { formRequest, type Refusals, type RefusedRequest, wrongCredentials } from './refusals.js';
import { newPhone } from './relay-member.js';

const eventsPath = '/api/v1/events';
const registrationsPerHour = 60;
const tooManyTries = '429 RATE_LIMIT_HIT';

/**
 * Requests from users and unauthenticated clients that a server refuses for their content, keyed by the attackers'
 * action. All of them query the database.
 */
export const serverRefusals: Refusals = {
  'an unauthenticated client tries wrong API keys for a known address': async ({ constellation }) => {
    const { email } = await newUser(constellation);
    return formRequest(
      wrongCredentials.server,
      registerPushDevicePath,
      basicAuthorization(email, 'x'.repeat(32)),
      {},
    );
  },
  'an unauthenticated client guesses the password for a user name': () => {
    const guess = wrongSignIn('somebody@system.example');
    // The first few guesses get the response to a wrong password. Later guesses are refused.
    return { ...guess, answers: [tooManyTries, ...guess.answers] };
  },
  'another user sends an invalid registration': async ({ constellation }) => {
    const { registration } = await newPhone(constellation);
    const wrong = { ...registration, push_public_key: 'none' };
    return formRequest(
      '400 BAD_REQUEST',
      registerPushDevicePath,
      await newAuthorization(constellation),
      wrong,
    );
  },
  'another user registers more phones than allowed per hour': async ({ constellation }) => {
    const authorization = await newAuthorization(constellation);
    for (let made = 0; made < registrationsPerHour; made++) {
      const { registration } = await newPhone(constellation);
      const url = constellation.serverUrl + registerPushDevicePath;
      const asked = await ask(url, authorization, new URLSearchParams(registration));
      if (asked.status !== 200)
        throw new Error(`the server responded to a registration with ${asked.status}`);
    }
    const { registration } = await newPhone(constellation);
    // One registration is accepted in the next minute. Repeating it changes nothing, and the rate limit ignores it.
    const answers = [tooManyTries, '200'];
    return { ...formRequest(answers, registerPushDevicePath, authorization, registration), lapses: true };
  },
  'another user without a phone requests a test notification': async ({ constellation }) =>
    formRequest('400 NO_ACTIVE_PUSH_DEVICE', testNotificationPath, await newAuthorization(constellation), {}),
  'another user opens one queue after another': async ({ constellation }) =>
    formRequest('200', '/api/v1/register', await newAuthorization(constellation), { event_types: '[]' }),
  'another user polls a queue that does not exist': async ({ constellation }) =>
    polling(await newAuthorization(constellation), randomUUID(), '400 BAD_EVENT_QUEUE_ID'),
  'another user deletes a queue that does not exist': async ({ constellation }) => {
    const authorization = await newAuthorization(constellation);
    return {
      answers: ['400 BAD_EVENT_QUEUE_ID'],
      request: requestText(`DELETE ${eventsPath}?queue_id=${randomUUID()}`, { authorization }),
    };
  },
  'another user requests the relay’s keys': async ({ constellation }) => {
    const authorization = await newAuthorization(constellation);
    return { answers: ['200'], request: requestText(`GET ${bouncerKeysPath}`, { authorization }) };
  },
};

/**
 * A sign-in that fails because the password is wrong, the user name has reached its rate limit, or the queue is full.
 */
export function wrongSignIn(username: string): RefusedRequest {
  const body = new URLSearchParams({ username, password: 'wrong horse battery' }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return {
    answers: ['401 AUTHENTICATION_FAILED', tooManyTries],
    request: requestText('POST /api/v1/fetch_api_key', headers, body),
  };
}

/** A poll of an event queue from its start. */
export function polling(authorization: string, queueId: string, answer = '200'): RefusedRequest {
  const start = `GET ${eventsPath}?queue_id=${queueId}&last_event_id=-1`;
  return { answers: [answer], request: requestText(start, { authorization }) };
}

/** Opens a new event queue without any event types for a user. Returns the queue's id. */
export async function openQueue(
  { serverUrl }: AttackWorld['constellation'],
  authorization: string,
): Promise<string> {
  const asked = await ask(
    `${serverUrl}/api/v1/register`,
    authorization,
    new URLSearchParams({ event_types: '[]' }),
  );
  const { queue_id: queueId, msg } = asked.body;
  if (typeof queueId !== 'string') throw new Error(`the server did not open an event queue: ${msg}`);
  return queueId;
}

export async function newAuthorization(constellation: AttackWorld['constellation']): Promise<string> {
  const { email, api_key } = await newUser(constellation);
  return basicAuthorization(email, api_key);
}

async function newUser(constellation: AttackWorld['constellation']): Promise<ConstellationUser> {
  const [user] = await addUsers(constellation, [`attacker-${randomUUID()}`]);
  return user as ConstellationUser;
}
