import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Exchange } from '#service/http/exchange.js';
import { Backlog, type BacklogOptions, type Work } from '#service/http/overload/backlog.js';
import { newExchange } from '../new-exchange.js';

const most = 4;
// Whatever is worked on is late, and nothing is answered in time.
const late = { backlogMilliseconds: 0, minimumBacklog: most };
let refusals: number;

function newBacklog(options: Partial<BacklogOptions> = {}): Backlog {
  const onOverload = () => {
    refusals += 1;
  };
  return new Backlog({
    limits: late,
    waitsForOthers: false,
    isProcessBusy: () => true,
    onOverload,
    ...options,
  });
}

/** Whether a request came to be worked on. */
function begins(backlog: Backlog, sender: string): boolean {
  const before = refusals;
  try {
    const work = backlog.enter(newExchange());
    work.admit(sender);
    work.pause();
    work.resume();
  } catch (error) {
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 });
  }
  return refusals === before;
}

function beginAll(backlog: Backlog, senders: readonly string[]): boolean[] {
  return senders.map((sender) => begins(backlog, sender));
}

beforeEach(() => {
  refusals = 0;
});

describe('a backlog', () => {
  it('refuses who has its part, and serves who has none', () => {
    const backlog = newBacklog();
    expect(beginAll(backlog, ['ada', 'ada', 'ada', 'ada', 'ada', 'bob'])).toEqual([
      ...[true, true, true, true],
      ...[false, true],
    ]);
  });

  it('refuses nobody where an answer was in time, however many there are', () => {
    const backlog = newBacklog({ limits: { ...late, backlogMilliseconds: 60_000 } });
    expect(beginAll(backlog, Array<string>(20).fill('ada'))).not.toContain(false);
  });

  it('refuses what waits for others only while the process is busy', () => {
    let isBusy = false;
    const backlog = newBacklog({ waitsForOthers: true, isProcessBusy: () => isBusy });
    expect(beginAll(backlog, Array<string>(20).fill('ada'))).not.toContain(false);
    isBusy = true;
    expect(begins(backlog, 'ada')).toBe(false);
  });

  it('counts who is not known yet for no part of who is', () => {
    const backlog = newBacklog();
    const known = backlog.enter(newExchange());
    for (let unknown = 1; unknown < most; unknown += 1) backlog.enter(newExchange());
    expect(begins(backlog, 'stranger')).toBe(false);
    known.admit('ada');
    expect(beginAll(backlog, ['ada', 'ada', 'ada', 'ada'])).toEqual([true, true, true, false]);
  });

  it('gives each address an equal part of those who are not known yet', () => {
    const backlog = newBacklog();
    const isLetIn = (origin: string): boolean => {
      const before = refusals;
      try {
        backlog.enter(newExchange(origin));
      } catch {
        // Counted.
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

  it('gives back every place and part, in whatever order requests come, end and are left', () => {
    const step = fc.record({ kind: fc.nat(6), which: fc.nat(30), sender: fc.nat(3) });
    fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => follow(steps)));
  });
});

interface Step {
  readonly kind: number;
  readonly which: number;
  readonly sender: number;
}

type State = 'entered' | 'admitted' | 'begun' | 'over';

/** A request as it should be counted. */
interface Request {
  readonly exchange: Exchange;
  readonly work: Work;
  readonly sender: string;
  state: State;
}

function follow(steps: readonly Step[]): void {
  const backlog = newBacklog();
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
  const enter = (sender: string): void => {
    const exchange = newExchange(sender);
    const unnamed = inState('entered');
    const own = unnamed.filter((request) => request.sender === sender).length;
    const origins = new Set([sender, ...unnamed.map((request) => request.sender)]).size;
    const expected = isLate() && unnamed.length >= most && own + 1 > most / origins;
    let work: Work | undefined;
    const isOne = isRefused(() => {
      work = backlog.enter(exchange);
    });
    expect(isOne).toBe(expected);
    if (work !== undefined) requests.push({ exchange, work, sender, state: 'entered' });
  };
  const admit = (request: Request): void => {
    const admitted = inState('admitted', 'begun');
    const own = admitted.filter(({ sender }) => sender === request.sender).length;
    const senders = new Set([request.sender, ...admitted.map(({ sender }) => sender)]).size;
    const expected = isLate() && admitted.length >= most && own + 1 > most / senders;
    const isOne = isRefused(() => request.work.admit(request.sender));
    expect(isOne).toBe(expected);
    request.state = isOne ? 'over' : 'admitted';
    if (!isOne) request.work.pause();
  };
  const resume = (request: Request): void => {
    request.work.resume();
    request.state = 'begun';
  };
  const leave = (request: Request): void => {
    request.exchange.end();
    // What has begun goes on.
    if (request.state !== 'begun') request.state = 'over';
  };
  const end = (request: Request): void => {
    request.work.end();
    request.state = 'over';
  };
  const answer = (request: Request): void => {
    request.work.answered();
    end(request);
  };
  const pick = (which: number, states: State[], act: (request: Request) => void): void => {
    const among = inState(...states);
    const one = among[which % among.length];
    if (one !== undefined) act(one);
  };
  for (const { kind, which, sender } of steps) {
    if (kind <= 1) enter(`sender ${sender}`);
    else if (kind === 2) pick(which, ['entered'], admit);
    else if (kind === 3) pick(which, ['admitted'], resume);
    else if (kind === 4) pick(which, ['begun'], answer);
    else if (kind === 5) pick(which, ['entered', 'admitted', 'begun', 'over'], leave);
    else pick(which, ['begun', 'over'], end);
  }
  for (const request of requests) end(request);
  expect(beginAll(backlog, ['a', 'a', 'a', 'a', 'a'])).toEqual([true, true, true, true, false]);
}
