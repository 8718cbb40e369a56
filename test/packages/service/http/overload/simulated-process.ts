import { vi } from 'vitest';
import { FairScheduler } from '#service/http/overload/fair-scheduler.js';

/** CPU time in milliseconds, close to measured values. */
const receiving = 0.02;
const answering = 0.4;
const refusing = 0.02;
const looking = 0.001;

export interface SimulatedLoad {
  /** Requests per millisecond, all from one client. */
  readonly perMillisecond: number;
  /** Number of connections. Each has at most one request in flight. */
  readonly connections: number;
}

export interface SimulatedProcessOptions {
  /** Fraction of a CPU that the process gets. */
  readonly part: number;
  /** Milliseconds per second without CPU time. */
  readonly stall?: number;
}

/** Maximum throughput in requests per millisecond. */
export const capacityPerMillisecond = 1 / answering;

/** Simulates a process with Node's event loop and a fraction of a CPU, on a simulated clock. */
export class SimulatedProcess {
  readonly #options: SimulatedProcessOptions;
  readonly #scheduler: FairScheduler;
  #now = 0;
  #immediates: (() => void)[] = [];
  #timers: { readonly act: () => void; readonly due: number }[] = [];
  #inFlight = 0;
  #arrived = 0;
  #lastStall = 0;
  answered = 0;
  /** Latency of each refusal. */
  readonly refusedAfter: number[] = [];

  constructor(options: SimulatedProcessOptions) {
    this.#options = options;
    this.#scheduler = new FairScheduler({ backlogMilliseconds: 300, minimumBacklog: 32 });
  }

  /** Runs the process under a load for `milliseconds`. */
  run(milliseconds: number, load: SimulatedLoad): void {
    const restore = this.#replaceGlobals();
    try {
      const start = this.#now;
      this.#arrived = 0;
      while (this.#now < start + milliseconds) this.#runTick(start, load);
    } finally {
      restore();
    }
  }

  #runTick(start: number, { connections, perMillisecond }: SimulatedLoad): void {
    const due = Math.floor((this.#now - start) * perMillisecond) - this.#arrived;
    const ready = Math.min(due, connections - this.#inFlight);
    for (let count = 0; count < ready; count += 1) this.#receive();
    const timers = this.#timers;
    this.#timers = timers.filter(({ due }) => due > this.#now);
    for (const { act, due } of timers) if (due <= this.#now) act();
    const immediates = this.#immediates;
    this.#immediates = [];
    for (const act of immediates) {
      this.#work(looking);
      act();
    }
    if (ready === 0 && immediates.length === 0) this.#now += 1 / perMillisecond;
    const { stall = 0 } = this.#options;
    if (this.#now - this.#lastStall < 1000) return;
    this.#now += stall;
    this.#lastStall = this.#now;
  }

  #receive(): void {
    this.#work(receiving);
    this.#arrived += 1;
    this.#inFlight += 1;
    const since = this.#now;
    const act = (): void => {
      this.#work(answering);
      this.#inFlight -= 1;
      this.answered += 1;
    };
    const refuse = (): void => {
      this.#work(refusing);
      this.#inFlight -= 1;
      this.refusedAfter.push(this.#now - since);
    };
    this.#scheduler.schedule(act, { isPipelined: false, client: 'ada', refuse });
  }

  #work(milliseconds: number): void {
    this.#now += milliseconds / this.#options.part;
  }

  #replaceGlobals(): () => void {
    const now = vi.spyOn(performance, 'now').mockImplementation(() => this.#now);
    vi.stubGlobal('setImmediate', (act: () => void) => void this.#immediates.push(act));
    vi.stubGlobal('setTimeout', (act: () => void, after: number) =>
      this.#timers.push({ act, due: this.#now + after }),
    );
    return () => {
      now.mockRestore();
      vi.unstubAllGlobals();
    };
  }
}
