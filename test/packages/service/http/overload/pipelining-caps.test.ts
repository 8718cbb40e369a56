import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { PipeliningCaps } from '#service/http/overload/pipelining-caps.js';

const kibibyte = 1024;

const withHeaders = (headers: IncomingMessage['headers']) => ({ headers }) as IncomingMessage;
const withoutBody = withHeaders({});
const withBody = (bytes: number) => withHeaders({ 'content-length': String(bytes) });
const chunked = withHeaders({ 'transfer-encoding': 'chunked' });

/** Creates caps with room for 30 pipelined requests, and 100 KiB of their bodies. */
const roomFor30 = () =>
  new PipeliningCaps({ maximumRequestsInFlight: 300, maximumBodyBytesInFlight: 1000 * kibibyte });

describe('pipelined requests', () => {
  it('are capped at 100 per connection', () => {
    const caps = roomFor30();
    expect([99, 100, 101].map((count) => caps.hasRoom(withoutBody, count))).toEqual([true, false, false]);
  });

  it('are capped in total at a tenth of the in-flight limit, and release their slots', () => {
    const caps = roomFor30();
    for (let count = 0; count < 29; count++) caps.add(withoutBody);
    expect(caps.hasRoom(withoutBody, 0)).toBe(true);
    caps.add(withoutBody);
    expect(caps.hasRoom(withoutBody, 0)).toBe(false);
    caps.remove(withoutBody);
    expect(caps.hasRoom(withoutBody, 0)).toBe(true);
  });

  it('are capped in total at a tenth of the body bytes in flight', () => {
    const caps = roomFor30();
    caps.add(withBody(60 * kibibyte));
    expect(caps.hasRoom(withBody(40 * kibibyte), 0)).toBe(true);
    expect(caps.hasRoom(withBody(40 * kibibyte + 1), 0)).toBe(false);
    caps.remove(withBody(60 * kibibyte));
    expect(caps.bodyBytes).toBe(0);
    expect(caps.hasRoom(withBody(40 * kibibyte + 1), 0)).toBe(true);
  });

  it('always fit without a body, or with the only body', () => {
    const small = new PipeliningCaps({ maximumRequestsInFlight: 300, maximumBodyBytesInFlight: 10 });
    expect(small.hasRoom(withBody(60 * kibibyte), 0)).toBe(true);
    small.add(withBody(60 * kibibyte));
    expect(small.hasRoom(withoutBody, 0)).toBe(true);
    expect(small.hasRoom(withBody(1), 0)).toBe(false);
  });

  it('count the bytes that are read ahead: at most 64 KiB, and always 64 KiB for a chunked body', () => {
    const caps = roomFor30();
    caps.add(withBody(10));
    expect(caps.bodyBytes).toBe(10);
    caps.add(withBody(1000 * kibibyte));
    expect(caps.bodyBytes).toBe(10 + 64 * kibibyte);
    caps.add(chunked);
    expect(caps.bodyBytes).toBe(10 + 128 * kibibyte);
    caps.add(withoutBody);
    expect(caps.bodyBytes).toBe(10 + 128 * kibibyte);
  });
});
