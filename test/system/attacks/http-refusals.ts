import { base64, requestText } from './attack-requests.js';
import type { Target } from './attack-world.js';
import { formRequest, jsonRequest, type RefusedRequest, wrongCredentials } from './refusals.js';

const form = 'application/x-www-form-urlencoded';
/** Responses to an invalid JSON body. On this path, the relay accepts JSON and the server does not. */
const noJson = { relay: '400 BAD_REQUEST', server: '415 UNSUPPORTED_MEDIA_TYPE' } as const;

/**
 * Responses that are allowed instead of the expected refusal. The relay counts a member's request as soon as its head
 * arrives, so a hundred thousand requests exhaust the quota.
 */
const usedUp: Readonly<Record<Target['name'], readonly string[]>> = {
  relay: ['503 RATE_LIMIT_HIT'],
  server: [],
};

/** The action whose refusal ends the connection. */
export const tooLarge = 'another member sends a body that is too large';

/** Requests that both programs refuse before checking their content, keyed by the attackers' action. */
export const httpRefusals: Readonly<Record<string, (target: Target) => RefusedRequest>> = {
  'an unauthenticated client requests an unknown path': () => ({
    answers: ['404 NOT_FOUND'],
    request: requestText('GET /nowhere'),
  }),
  'an unauthenticated client uses a wrong method': ({ paths }) => ({
    answers: ['405 METHOD_NOT_ALLOWED'],
    request: requestText(`PATCH ${paths.form}`),
  }),
  'an unauthenticated client tries wrong credentials': ({ name, paths }) =>
    formRequest(wrongCredentials[name], paths.form, `Basic ${base64('a:b')}`, { x: '1' }),
  'another member omits a required field': ({ name, paths, attackerAuthorization }) => {
    const answers = ['400 REQUEST_VARIABLE_MISSING', ...usedUp[name]];
    return formRequest(answers, paths.form, attackerAuthorization, { x: '1' });
  },
  'another member sends invalid JSON': ({ name, paths, attackerAuthorization }) =>
    jsonRequest([noJson[name], ...usedUp[name]], paths.json, attackerAuthorization, '{'),
  'another member sends a body that is neither a form nor JSON': ({
    name,
    paths,
    attackerAuthorization: authorization,
  }) => {
    const headers = { authorization, 'content-type': 'text/plain' };
    return {
      answers: ['415 UNSUPPORTED_MEDIA_TYPE', ...usedUp[name]],
      request: requestText(`POST ${paths.form}`, headers, 'x'),
    };
  },
  [tooLarge]: ({ name, paths, attackerAuthorization: authorization }) => {
    const headers = { authorization, 'content-type': form, 'content-length': '999999999' };
    return {
      answers: ['413 PAYLOAD_TOO_LARGE', ...usedUp[name]],
      request: requestText(`POST ${paths.form}`, headers),
      endsConnection: true,
    };
  },
};
