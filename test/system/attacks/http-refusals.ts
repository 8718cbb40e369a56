import { base64, requestText } from './attack-requests.js';
import type { Target } from './attack-world.js';
import { formRequest, jsonRequest, type RefusedRequest } from './refusals.js';

const form = 'application/x-www-form-urlencoded';

/** The one that ends its connection. */
export const tooLarge = 'another member sends what is too large';

/** What both programs refuse before they look into what is asked, said as the end of a sentence. */
export const httpRefusals: Readonly<Record<string, (target: Target) => RefusedRequest>> = {
  'an unknown path is asked for': () => ({ statuses: [404], request: requestText('GET /nowhere') }),
  'a wrong method is used': ({ paths }) => ({
    statuses: [405],
    request: requestText(`PATCH ${paths.form}`),
  }),
  'wrong credentials are tried': ({ paths }) =>
    formRequest(401, paths.form, `Basic ${base64('a:b')}`, { x: '1' }),
  'another member leaves out what is needed': ({ paths, attackerAuthorization }) =>
    formRequest(400, paths.form, attackerAuthorization, { x: '1' }),
  'another member sends what is no JSON': ({ paths, attackerAuthorization }) =>
    jsonRequest([400, 415], paths.json, attackerAuthorization, '{'),
  'another member sends what is neither': ({ paths, attackerAuthorization: authorization }) => {
    const headers = { authorization, 'content-type': 'text/plain' };
    return { statuses: [415], request: requestText(`POST ${paths.form}`, headers, 'x') };
  },
  [tooLarge]: ({ paths, attackerAuthorization: authorization }) => {
    const headers = { authorization, 'content-type': form, 'content-length': '999999999' };
    return { statuses: [413], request: requestText(`POST ${paths.form}`, headers), endsConnection: true };
  },
};
