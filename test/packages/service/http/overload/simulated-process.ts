import { vi } from 'vitest';
import { Turns } from '#service/http/overload/turns.js';

/** Milliseconds of the processor, much as measured. */
const receiving = 0.02;
const answering = 0.4;
const refusing = 0.02;
const looking = 0.001;

export interface SimulatedLoad {
  /** Requests that each millisecond brings, all from one sender. */
  readonly perMillisecond: number;
  /** Each has one request under way at most. */
  readonly connections: number;
}

export interface SimulatedProcessOptions {
  /** The part of a processor that the process gets. */
  readonly part: number;
  /** Every second, in milliseconds, for which it gets none. */
  readonly stall?: number;
}

/** What a process can answer each millisecond while it does nothing else. */
export const capacityPerMillisecond = 1 / answering;

/** A process with an event loop as Node's, that gets part of a processor: a clock, and no time of ours. */
export class SimulatedProcess {
  readonly #options: SimulatedProcessOptions;
  readonly #turns: Turns;
  #now = 0;
  #immediates: (() => void)[] = [];
  #underWay = 0;
  #arrived = 0;
  #lastStall = 0;
  answered = 0;
  /** How long each refusal took to come. */
  readonly refusedAfter: number[] = [];

  constructor(options: SimulatedProcessOptions) {
    this.#options = options;
    this.#turns = new Turns({ backlogMilliseconds: 300, minimumBacklog: 32 });
  }

  /** Works for so long under a load. */
  run(milliseconds: number, load: SimulatedLoad): void {
    const restore = this.#replaceGlobals();
    try {
      const start = this.#now;
      this.#arrived = 0;
      while (this.#now < start + milliseconds) this.#turnOfLoop(start, load);
    } finally {
      restore();
    }
  }

  #turnOfLoop(start: number, { connections, perMillisecond }: SimulatedLoad): void {
    const due = Math.floor((this.#now - start) * perMillisecond) - this.#arrived;
    const ready = Math.min(due, connections - this.#underWay);
    for (let count = 0; count < ready; count += 1) this.#receive();
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
    this.#underWay += 1;
    const since = this.#now;
    const act = (): void => {
      this.#work(answering);
      this.#underWay -= 1;
      this.answered += 1;
    };
    const refuse = (): void => {
      this.#work(refusing);
      this.#underWay -= 1;
      this.refusedAfter.push(this.#now - since);
    };
    this.#turns.begin(act, { isFollowing: false, sender: 'ada', refuse });
  }

  #work(milliseconds: number): void {
    this.#now += milliseconds / this.#options.part;
  }

  #replaceGlobals(): () => void {
    const now = vi.spyOn(performance, 'now').mockImplementation(() => this.#now);
    vi.stubGlobal('setImmediate', (act: () => void) => void this.#immediates.push(act));
    return () => {
      now.mockRestore();
      vi.unstubAllGlobals();
    };
  }
}
