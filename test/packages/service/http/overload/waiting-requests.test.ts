import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { WaitingRequests } from '#service/http/overload/waiting-requests.js';

const kibibyte = 1024;

const withHeaders = (headers: IncomingMessage['headers']) => ({ headers }) as IncomingMessage;
const withoutBody = withHeaders({});
const withBody = (bytes: number) => withHeaders({ 'content-length': String(bytes) });
const inPieces = withHeaders({ 'transfer-encoding': 'chunked' });

/** Room for 30 requests and for 100 KiB of their bodies. */
const roomFor30 = () =>
  new WaitingRequests({ maximumRequestsInFlight: 300, maximumBodyBytesInFlight: 1000 * kibibyte });

describe('requests that wait behind others', () => {
  it('are at most 100 on one connection', () => {
    const waiting = roomFor30();
    expect([99, 100, 101].map((count) => waiting.hasRoom(withoutBody, count))).toEqual([true, false, false]);
  });

  it('are of everybody a tenth of those that may be in flight, and leave their place when they end', () => {
    const waiting = roomFor30();
    for (let count = 0; count < 29; count++) waiting.begin(withoutBody);
    expect(waiting.hasRoom(withoutBody, 0)).toBe(true);
    waiting.begin(withoutBody);
    expect(waiting.hasRoom(withoutBody, 0)).toBe(false);
    waiting.end(withoutBody);
    expect(waiting.hasRoom(withoutBody, 0)).toBe(true);
  });

  it('have of everybody a tenth of the bytes of bodies that may be in flight', () => {
    const waiting = roomFor30();
    waiting.begin(withBody(60 * kibibyte));
    expect(waiting.hasRoom(withBody(40 * kibibyte), 0)).toBe(true);
    expect(waiting.hasRoom(withBody(40 * kibibyte + 1), 0)).toBe(false);
    waiting.end(withBody(60 * kibibyte));
    expect(waiting.bodyBytes).toBe(0);
    expect(waiting.hasRoom(withBody(40 * kibibyte + 1), 0)).toBe(true);
  });

  it('pass without a body however many bytes there are, and with one where there is no other', () => {
    const small = new WaitingRequests({ maximumRequestsInFlight: 300, maximumBodyBytesInFlight: 10 });
    expect(small.hasRoom(withBody(60 * kibibyte), 0)).toBe(true);
    small.begin(withBody(60 * kibibyte));
    expect(small.hasRoom(withoutBody, 0)).toBe(true);
    expect(small.hasRoom(withBody(1), 0)).toBe(false);
  });

  it('count with what is read ahead of their turn, at most 64 KiB, which a body of unknown size counts with', () => {
    const waiting = roomFor30();
    waiting.begin(withBody(10));
    expect(waiting.bodyBytes).toBe(10);
    waiting.begin(withBody(1000 * kibibyte));
    expect(waiting.bodyBytes).toBe(10 + 64 * kibibyte);
    waiting.begin(inPieces);
    expect(waiting.bodyBytes).toBe(10 + 128 * kibibyte);
    waiting.begin(withoutBody);
    expect(waiting.bodyBytes).toBe(10 + 128 * kibibyte);
  });
});
