import { base64, requestText } from './attack-requests.js';
import type { Target } from './attack-world.js';
import { formRequest, jsonRequest, type RefusedRequest, wrongCredentials } from './refusals.js';

const form = 'application/x-www-form-urlencoded';
/** Answers to a JSON body: the relay accepts JSON on that path, the server does not. */
const noJson = { relay: '400 BAD_REQUEST', server: '415 UNSUPPORTED_MEDIA_TYPE' } as const;

/**
 * Answers that are allowed instead of the expected refusal. The relay counts a member's request as soon as its head
 * arrives, and a hundred thousand requests use up the quota.
 */
const usedUp: Readonly<Record<Target['name'], readonly string[]>> = {
  relay: ['503 RATE_LIMIT_HIT'],
  server: [],
};

/** The action for which the refusal ends the connection. */
export const tooLarge = 'another member sends what is too large';

/** Requests that both programs refuse before checking their content, keyed by the end of a sentence. */
export const httpRefusals: Readonly<Record<string, (target: Target) => RefusedRequest>> = {
  'an unknown path is asked for': () => ({
    answers: ['404 NOT_FOUND'],
    request: requestText('GET /nowhere'),
  }),
  'a wrong method is used': ({ paths }) => ({
    answers: ['405 METHOD_NOT_ALLOWED'],
    request: requestText(`PATCH ${paths.form}`),
  }),
  'wrong credentials are tried': ({ name, paths }) =>
    formRequest(wrongCredentials[name], paths.form, `Basic ${base64('a:b')}`, { x: '1' }),
  'another member leaves out what is needed': ({ name, paths, attackerAuthorization }) => {
    const answers = ['400 REQUEST_VARIABLE_MISSING', ...usedUp[name]];
    return formRequest(answers, paths.form, attackerAuthorization, { x: '1' });
  },
  'another member sends what is no JSON': ({ name, paths, attackerAuthorization }) =>
    jsonRequest([noJson[name], ...usedUp[name]], paths.json, attackerAuthorization, '{'),
  'another member sends what is neither': ({ name, paths, attackerAuthorization: authorization }) => {
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
