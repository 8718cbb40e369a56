import { expect, it } from 'vitest';
import { answerReader, countInto } from './count-answers.js';

const answer = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

const chunkedHead = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

it('the reader counts each response by status and code once its body is complete', () => {
  const counts: Record<string, number> = {};
  const count = answerReader(countInto(counts));
  const first = answer('400 Bad Request', '{"result":"error","msg":"no","code":"BAD_REQUEST"}');
  expect([count(Buffer.from(first.slice(0, -1))), counts]).toEqual([0, {}]);
  const rest = [
    answer('200 OK', '{"results":[{"code":"HTTP/1.1 500 "}]}'),
    answer('404 Not Found', '<html>'),
    'HTTP/1.1 204 No Content\r\n\r\n',
    `${chunkedHead}4\r\n{"a"\r\n8\r\n:"\\r\\n0"}\r\n0\r\n\r\n`,
    `${chunkedHead}0\r\n\r\n`,
    answer('503 Service Unavailable', '{"code":"RATE_LIMIT_HIT"}'),
  ].join('');
  expect(count(Buffer.from(first.slice(-1)))).toBe(1);
  const bytes = [...Buffer.from(rest)].map((byte) => count(Buffer.from([byte])));
  expect(bytes.filter((answers) => answers === 1)).toHaveLength(6);
  expect(count(Buffer.from(first + first))).toBe(2);
  expect(counts).toEqual({
    '400 BAD_REQUEST': 3,
    '200': 3,
    '404': 1,
    '204': 1,
    '503 RATE_LIMIT_HIT': 1,
  });
});
