import { randomUUID } from 'node:crypto';
import { requestText } from './attack-requests.js';
import type { AttackWorld } from './attack-world.js';
import { formRequest, type Refusals, type RefusedRequest } from './refusals.js';
import { newAuthorization } from './server-refusals.js';

type World = Pick<AttackWorld, 'constellation'>;

const form = 'application/x-www-form-urlencoded';

/** Useless requests to the server from users and unauthenticated clients, keyed by the attackers' action. */
export const chatRefusals: Refusals = {
  'unauthenticated clients try invitation links': () => ({
    answers: ['404', '429 RATE_LIMIT_HIT'],
    request: requestText(`GET /join/${randomUUID().replaceAll('-', '')}/`),
  }),
  'another user searches for more than a thousand words': (world) =>
    messages(world, { anchor: 'newest', narrow: JSON.stringify([['search', 'a '.repeat(1500)]]) }),
  'another user excludes the maximum number of topics': (world) => {
    const terms = Array.from({ length: 50 }, (_, index) => ({ operator: 'topic', operand: `t${index}` }));
    const narrow = JSON.stringify(terms.map((term) => ({ ...term, negated: true })));
    return messages(world, { anchor: '9'.repeat(30), narrow });
  },
  'another user opens queues with many search terms': async ({ constellation }) => {
    const narrow = JSON.stringify(Array.from({ length: 30 }, () => ['is', 'dm']));
    const fields = { event_types: '["message"]', narrow };
    return formRequest('200', '/api/v1/register', await newAuthorization(constellation), fields);
  },
  'another user sets a deeply nested value': async ({ constellation }) => {
    const authorization = await newAuthorization(constellation);
    const value = `${'['.repeat(9000)}${']'.repeat(9000)}`;
    const body = new URLSearchParams({ enter_sends: value }).toString();
    const headers = { authorization, 'content-type': form };
    return { answers: ['400 BAD_REQUEST'], request: requestText('PATCH /api/v1/settings', headers, body) };
  },
  'another user uploads a form without a file': async ({ constellation }) => {
    const authorization = await newAuthorization(constellation);
    const headers = { authorization, 'content-type': 'multipart/form-data; boundary=x' };
    return {
      answers: ['400 BAD_REQUEST'],
      request: requestText('POST /api/v1/user_uploads', headers, '--x--\r\n'),
    };
  },
};

async function messages(
  { constellation }: World,
  query: Readonly<Record<string, string>>,
): Promise<RefusedRequest> {
  const authorization = await newAuthorization(constellation);
  const parameters = new URLSearchParams({ ...query, num_before: '100', num_after: '0' });
  return { answers: ['200'], request: requestText(`GET /api/v1/messages?${parameters}`, { authorization }) };
}

/** The start of an upload with an endless file. */
export function endlessUpload(authorization: string): string {
  const headers = {
    authorization,
    'content-type': 'multipart/form-data; boundary=x',
    'content-length': '9999999',
  };
  const part = 'content-disposition: form-data; name="file"; filename="a.txt"';
  return `${requestText('POST /api/v1/user_uploads', headers)}--x\r\n${part}\r\n\r\n${'x'.repeat(60_000)}`;
}
