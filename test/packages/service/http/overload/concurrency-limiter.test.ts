import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Exchange } from '#service/http/exchange.js';
import {
  ConcurrencyLimiter,
  type ConcurrencyLimiterOptions,
  type Permit,
} from '#service/http/overload/concurrency-limiter.js';
import { newExchange } from '../new-exchange.js';

const most = 4;
// Every request in flight is late, and none completes in time.
const late = { backlogMilliseconds: 0, minimumBacklog: most };
let refusals: number;

function newLimiter(options: Partial<ConcurrencyLimiterOptions> = {}): ConcurrencyLimiter {
  const onOverload = () => {
    refusals += 1;
  };
  return new ConcurrencyLimiter({
    limits: late,
    waitsForOthers: false,
    isProcessBusy: () => true,
    onOverload,
    ...options,
  });
}

/** Returns whether a new request is admitted. */
function begins(limiter: ConcurrencyLimiter, client: string): boolean {
  const before = refusals;
  try {
    const permit = limiter.acquire(newExchange());
    permit.admit(client);
    permit.pause();
    permit.resume();
  } catch (error) {
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 });
  }
  return refusals === before;
}

function beginAll(limiter: ConcurrencyLimiter, senders: readonly string[]): boolean[] {
  return senders.map((client) => begins(limiter, client));
}

beforeEach(() => {
  refusals = 0;
});

describe('a concurrency limiter', () => {
  it('refuses a client at its fair share, and serves a client below it', () => {
    const limiter = newLimiter();
    expect(beginAll(limiter, ['ada', 'ada', 'ada', 'ada', 'ada', 'bob'])).toEqual([
      ...[true, true, true, true],
      ...[false, true],
    ]);
  });

  it('has no limit while requests complete in time', () => {
    const limiter = newLimiter({ limits: { ...late, backlogMilliseconds: 60_000 } });
    expect(beginAll(limiter, Array<string>(20).fill('ada'))).not.toContain(false);
  });

  it('limits a waiting operation only while the process is busy', () => {
    let isBusy = false;
    const limiter = newLimiter({ waitsForOthers: true, isProcessBusy: () => isBusy });
    expect(beginAll(limiter, Array<string>(20).fill('ada'))).not.toContain(false);
    isBusy = true;
    expect(begins(limiter, 'ada')).toBe(false);
  });

  it('does not count unauthenticated requests toward the shares of known clients', () => {
    const limiter = newLimiter();
    const known = limiter.acquire(newExchange());
    for (let unknown = 1; unknown < most; unknown += 1) limiter.acquire(newExchange());
    expect(begins(limiter, 'unknown')).toBe(false);
    known.admit('ada');
    expect(beginAll(limiter, ['ada', 'ada', 'ada', 'ada'])).toEqual([true, true, true, false]);
  });

  it('gives each address a fair share of the unauthenticated requests', () => {
    const limiter = newLimiter();
    const isLetIn = (origin: string): boolean => {
      const before = refusals;
      try {
        limiter.acquire(newExchange(origin));
      } catch {
        // `onOverload` counts the refusal.
      }
      return refusals === before;
    };
    const crowd = Array<string>(6).fill('crowd');
    expect(crowd.map(isLetIn)).toEqual([true, true, true, true, false, false]);
    expect(['other', 'other', 'other', 'third', 'third'].map(isLetIn)).toEqual([
      ...[true, true, false],
      ...[true, false],
    ]);
  });

  it('releases every permit and share, for any order of requests, completions and disconnects', () => {
    const step = fc.record({ kind: fc.nat(6), which: fc.nat(30), client: fc.nat(3) });
    fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => follow(steps)));
  });
});

interface Step {
  readonly kind: number;
  readonly which: number;
  readonly client: number;
}

type State = 'entered' | 'admitted' | 'begun' | 'over';

/** A request of the model. */
interface Request {
  readonly exchange: Exchange;
  readonly permit: Permit;
  readonly client: string;
  state: State;
}

function follow(steps: readonly Step[]): void {
  const limiter = newLimiter();
  const requests: Request[] = [];
  const inState = (...states: State[]) => requests.filter(({ state }) => states.includes(state));
  const isLate = () =>
    inState('entered', 'admitted', 'begun').length >= most && inState('entered', 'begun').length > 0;
  const isRefused = (act: () => void): boolean => {
    const before = refusals;
    try {
      act();
    } catch {
      expect(refusals).toBe(before + 1);
    }
    return refusals > before;
  };
  const enter = (client: string): void => {
    const exchange = newExchange(client);
    const unnamed = inState('entered');
    const own = unnamed.filter((request) => request.client === client).length;
    const origins = new Set([client, ...unnamed.map((request) => request.client)]).size;
    const expected = isLate() && unnamed.length >= most && own + 1 > most / origins;
    let permit: Permit | undefined;
    const isOne = isRefused(() => {
      permit = limiter.acquire(exchange);
    });
    expect(isOne).toBe(expected);
    if (permit !== undefined) requests.push({ exchange, permit, client, state: 'entered' });
  };
  const admit = (request: Request): void => {
    const admitted = inState('admitted', 'begun');
    const own = admitted.filter(({ client }) => client === request.client).length;
    const senders = new Set([request.client, ...admitted.map(({ client }) => client)]).size;
    const expected = isLate() && admitted.length >= most && own + 1 > most / senders;
    const isOne = isRefused(() => request.permit.admit(request.client));
    expect(isOne).toBe(expected);
    request.state = isOne ? 'over' : 'admitted';
    if (!isOne) request.permit.pause();
  };
  const resume = (request: Request): void => {
    request.permit.resume();
    request.state = 'begun';
  };
  const leave = (request: Request): void => {
    request.exchange.end();
    // A request that has begun runs to completion.
    if (request.state !== 'begun') request.state = 'over';
  };
  const end = (request: Request): void => {
    request.permit.release();
    request.state = 'over';
  };
  const answer = (request: Request): void => {
    request.permit.complete();
    end(request);
  };
  const pick = (which: number, states: State[], act: (request: Request) => void): void => {
    const among = inState(...states);
    const one = among[which % among.length];
    if (one !== undefined) act(one);
  };
  for (const { kind, which, client } of steps) {
    if (kind <= 1) enter(`client ${client}`);
    else if (kind === 2) pick(which, ['entered'], admit);
    else if (kind === 3) pick(which, ['admitted'], resume);
    else if (kind === 4) pick(which, ['begun'], answer);
    else if (kind === 5) pick(which, ['entered', 'admitted', 'begun', 'over'], leave);
    else pick(which, ['begun', 'over'], end);
  }
  for (const request of requests) end(request);
  expect(beginAll(limiter, ['a', 'a', 'a', 'a', 'a'])).toEqual([true, true, true, true, false]);
}
