import type { AppleSystem, FaultEffect, FaultRule, FaultVendor, GoawayFault } from './fault-rule.js';
import type { FaultScript } from './parse-fault-rules.js';

/** Properties of a request that rules select by. */
export interface FaultedRequest {
  readonly vendor: FaultVendor;
  readonly token?: string;
  readonly topic?: string;
  readonly environment?: AppleSystem;
}

/** Effect of the rules on one request: extra latency, and the fault that replaces the response. */
export interface Verdict {
  readonly latencyMilliseconds: number;
  readonly effect: FaultEffect | undefined;
}

interface ActiveRule {
  readonly rule: FaultRule;
  fired: number;
}

const noFault: Verdict = { latencyMilliseconds: 0, effect: undefined };

/** The active fault rules. Changes apply immediately, even to open connections. */
export class Faults {
  readonly #random: () => number;
  readonly #listeners = new Set<() => void>();
  #script: FaultScript = { rules: [] };
  #draw: () => number;
  #active: readonly ActiveRule[] = [];
  #byToken = new Map<string, ActiveRule[]>();
  #general: Record<FaultVendor, ActiveRule[]> = { fcm: [], apns: [], oauth: [], webpush: [] };

  /** @param random returns numbers in [0, 1), for `rate` if the script has no seed. */
  constructor(random: () => number) {
    this.#random = random;
    this.#draw = random;
  }

  get script(): FaultScript {
    return this.#script;
  }

  /** How often each rule was applied, in script order. */
  get fired(): number[] {
    return this.#active.map(({ fired }) => fired);
  }

  replace(script: FaultScript): void {
    this.#script = script;
    this.#draw = script.seed === undefined ? this.#random : seededRandom(script.seed);
    this.#active = script.rules.map((rule) => ({ rule, fired: 0 }));
    this.#byToken = new Map();
    this.#general = { fcm: [], apns: [], oauth: [], webpush: [] };
    for (const active of this.#active) {
      const { vendor, token } = active.rule;
      if (token === undefined) {
        this.#general[vendor].push(active);
        continue;
      }
      const key = tokenKey(vendor, token);
      const others = this.#byToken.get(key);
      if (others) others.push(active);
      else this.#byToken.set(key, [active]);
    }
    for (const listener of this.#listeners) listener();
  }

  onReplaced(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Applies the rules to one request, and counts each applied rule. Rules that name the request's token come first,
   * then all other rules, each group in script order. Latencies add up. Of the other effects, only the first applies.
   */
  decide(request: FaultedRequest): Verdict {
    const { vendor, token } = request;
    const general = this.#general[vendor];
    const named =
      this.#byToken.size > 0 && token !== undefined ? this.#byToken.get(tokenKey(vendor, token)) : undefined;
    if (named === undefined && general.length === 0) return noFault;
    let latencyMilliseconds = 0;
    let effect: FaultEffect | undefined;
    for (const active of named ? [...named, ...general] : general) {
      const { rule } = active;
      if (rule.effect === undefined && rule.latencyMilliseconds === 0) continue;
      if (effect !== undefined && rule.effect !== undefined) continue;
      if (active.fired >= rule.times || !this.#strikes(rule, request)) continue;
      active.fired += 1;
      latencyMilliseconds += rule.latencyMilliseconds;
      effect ??= rule.effect;
    }
    return { latencyMilliseconds, effect };
  }

  /**
   * Returns the GOAWAY to send after `streams` streams on a connection, or `undefined`. Uses up one of the rule's
   * `times`, unless the rule's requests are counted instead.
   */
  decideGoaway(environment: AppleSystem, streams: number): GoawayFault | undefined {
    for (const active of this.#general.apns) {
      const { goaway, effect, latencyMilliseconds, times } = active.rule;
      if (goaway === undefined || streams % goaway.every !== 0) continue;
      if (!isForEnvironment(active.rule, environment)) continue;
      const isCountedByRequests = effect !== undefined || latencyMilliseconds > 0;
      if (isCountedByRequests) return goaway;
      if (active.fired >= times) continue;
      active.fired += 1;
      return goaway;
    }
    return undefined;
  }

  /**
   * Returns a connection's limits on concurrent streams: 1 before authentication and 1,000 afterwards, unless rules
   * override them.
   */
  streamLimits(environment: AppleSystem): { initial: number; authenticated: number } {
    const rules = this.#general.apns
      .map(({ rule }) => rule)
      .filter((rule) => isForEnvironment(rule, environment));
    const initial = rules.find(
      (rule) => rule.initialConcurrentStreams !== undefined,
    )?.initialConcurrentStreams;
    const most = rules.find((rule) => rule.maxConcurrentStreams !== undefined)?.maxConcurrentStreams;
    return { initial: initial ?? 1, authenticated: most ?? 1000 };
  }

  /** Minimum interval between new provider tokens; `undefined` for no minimum. */
  get mintIntervalSeconds(): number | undefined {
    return this.#general.apns.find(({ rule }) => rule.mintIntervalSeconds !== undefined)?.rule
      .mintIntervalSeconds;
  }

  /** Lifetime of access tokens, in seconds. */
  get accessTokenSeconds(): number {
    const rule = this.#general.oauth.find((active) => active.rule.accessTokenSeconds !== undefined)?.rule;
    return rule?.accessTokenSeconds ?? 3600;
  }

  #strikes(rule: FaultRule, { topic, environment }: FaultedRequest): boolean {
    if (rule.topic !== undefined && rule.topic !== topic) return false;
    if (rule.environment !== undefined && rule.environment !== environment) return false;
    return rule.rate === 1 || this.#draw() < rule.rate;
  }
}

function isForEnvironment(rule: FaultRule, environment: AppleSystem): boolean {
  return rule.environment === undefined || rule.environment === environment;
}

function tokenKey(vendor: FaultVendor, token: string): string {
  return `${vendor}:${vendor === 'apns' ? token.toLowerCase() : token}`;
}

/** Creates a Mulberry32 random number generator, which returns the same numbers for a seed on every machine. */
function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
