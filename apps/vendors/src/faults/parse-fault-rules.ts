import { isObject } from '../json-web-token.js';
import { appleReasons } from '../reasons/apple-reasons.js';
import { googleErrors } from '../reasons/google-errors.js';
import { oauthErrors } from '../reasons/oauth-errors.js';
import { pushServiceReasons } from '../reasons/push-service-reasons.js';
import type { AnswerFault, FaultEffect, FaultRule, FaultVendor, GoawayFault } from './fault-rule.js';
import { readWireRule, type WireRule } from './rule-fields.js';

export interface FaultScript {
  readonly rules: readonly FaultRule[];
  /** Seed of the random numbers for `rate`. Without a seed, the numbers differ from run to run. */
  readonly seed?: number;
}

/** Error for an invalid fault script. Names up to ten problems. */
export class FaultScriptError extends Error {
  constructor(problems: readonly string[]) {
    const shown = problems.slice(0, 10).join('; ');
    super(problems.length > 10 ? `${shown}; and ${problems.length - 10} more` : shown);
    this.name = 'FaultScriptError';
  }
}

const answerFields = ['retry_after', 'message', 'field', 'body', 'timestamp'] as const;
const connectionFields = [
  'goaway_every',
  'max_concurrent_streams',
  'initial_concurrent_streams',
  'mint_interval_seconds',
  'expires_in',
] as const;

/** HTTP status of each reason. The first reason with a status is the default reason for that status. */
const statusesByReason: Record<FaultVendor, ReadonlyMap<string, number>> = {
  apns: new Map(Object.entries(appleReasons)),
  fcm: new Map(Object.entries(googleErrors).map(([name, { httpStatus }]) => [name, httpStatus])),
  webpush: new Map(Object.entries(pushServiceReasons)),
  oauth: new Map(Object.entries(oauthErrors).map(([name, { httpStatus }]) => [name, httpStatus])),
};

/**
 * Parses the body of `PUT /faults`.
 * @throws FaultScriptError that names the problems with their paths.
 */
export function parseFaultScript(body: unknown): FaultScript {
  if (!isObject(body) || !Array.isArray(body.rules)) {
    throw new FaultScriptError(['the body must be a JSON object with an array "rules"']);
  }
  const { rules, seed, ...unknown } = body;
  const problems = Object.keys(unknown).map((name) => `${name} is unknown; the body has "rules" and "seed"`);
  if (seed !== undefined && !Number.isSafeInteger(seed)) problems.push('seed must be an integer');
  const parsed: FaultRule[] = [];
  for (const [index, source] of (rules as unknown[]).entries()) {
    const path = `rules[${index}]`;
    const read = readWireRule(path, source);
    const found = 'rule' in read ? findProblems(path, read.rule) : read.problems;
    if ('rule' in read && found.length === 0) {
      parsed.push(buildRule(read.rule, source as FaultRule['source']));
    }
    problems.push(...found);
  }
  if (problems.length > 0) throw new FaultScriptError(problems);
  return { rules: parsed, ...(seed !== undefined && { seed: seed as number }) };
}

function findProblems(path: string, rule: WireRule): string[] {
  const problems: string[] = [];
  const isGoawayReason = rule.goaway_every !== undefined && rule.status === undefined;
  const isAnswer = rule.status !== undefined || (rule.reason !== undefined && !isGoawayReason);
  const effects = [isAnswer, rule.reset !== undefined, rule.half_open !== undefined].filter(Boolean).length;
  if (effects > 1) {
    problems.push(`${path} must have only one of status or reason, reset, and half_open`);
  }
  if (!isAnswer) {
    problems.push(
      ...answerFields
        .filter((name) => rule[name] !== undefined)
        .map((name) => `${path}.${name} requires a status or a reason`),
    );
  } else {
    problems.push(...findAnswerProblems(path, rule));
  }
  const isForRequests = effects > 0 || rule.latency_ms !== undefined;
  const isForConnections = connectionFields.some((name) => rule[name] !== undefined);
  if (!isForRequests && !isForConnections) {
    problems.push(
      `${path} does nothing: give it a status, reason, reset, half_open, latency_ms, ${connectionFields.join(', ')}`,
    );
  }
  if (isForConnections) {
    problems.push(
      ...(['token', 'topic', 'rate'] as const)
        .filter((name) => rule[name] !== undefined)
        .map(
          (name) =>
            `${path}.${name} selects requests, but the rule affects connections: split it into two rules`,
        ),
    );
  }
  if (rule.times !== undefined) problems.push(...findTimesProblems(path, rule, isForRequests));
  if (rule.mint_interval_seconds !== undefined && rule.environment !== undefined) {
    problems.push(`${path}.environment cannot be combined with mint_interval_seconds, which applies to both`);
  }
  if (rule.goaway_every === undefined && (rule.goaway_json ?? rule.goaway_code) !== undefined) {
    problems.push(`${path}.goaway_json and goaway_code require goaway_every`);
  }
  return problems;
}

/**
 * Checks that `times` counts either requests or GOAWAYs. It cannot count both, or limit settings, which last as long as
 * the rule.
 */
function findTimesProblems(path: string, rule: WireRule, isForRequests: boolean): string[] {
  const counted = `${path}.times counts requests or GOAWAYs, and not`;
  const problems = connectionFields
    .filter((name) => name !== 'goaway_every' && rule[name] !== undefined)
    .map((name) => `${counted} the effect of ${name}: split it into two rules`);
  if (isForRequests && rule.goaway_every !== undefined)
    problems.push(`${counted} both: split it into two rules`);
  return problems;
}

function findAnswerProblems(path: string, rule: WireRule): string[] {
  const problems: string[] = [];
  const { status, reason } = completeAnswer(rule);
  if (status === undefined) {
    const known = [...statusesByReason[rule.vendor].keys()].join(', ');
    problems.push(
      `${path}.reason "${rule.reason}" is not one of ${known}: also set its status, or correct it`,
    );
  } else if (reason === undefined && rule.body === undefined) {
    problems.push(`${path}.status ${status} has no default reason: also set a reason or a body`);
  }
  if (rule.timestamp !== undefined && status !== 410) {
    problems.push(`${path}.timestamp requires status 410`);
  }
  return problems;
}

function completeAnswer(rule: WireRule): { status: number | undefined; reason: string | undefined } {
  const statuses = statusesByReason[rule.vendor];
  if (rule.reason !== undefined) {
    return { status: rule.status ?? statuses.get(rule.reason), reason: rule.reason };
  }
  const usual = [...statuses].find(([, status]) => status === rule.status);
  return { status: rule.status, reason: usual?.[0] };
}

function buildRule(rule: WireRule, source: FaultRule['source']): FaultRule {
  const effect = buildEffect(rule);
  const goaway = buildGoaway(rule);
  return {
    vendor: rule.vendor,
    ...(rule.token !== undefined && { token: rule.token }),
    ...(rule.topic !== undefined && { topic: rule.topic }),
    ...(rule.environment !== undefined && { environment: rule.environment }),
    rate: rule.rate ?? 1,
    times: rule.times ?? Number.POSITIVE_INFINITY,
    latencyMilliseconds: rule.latency_ms ?? 0,
    ...(effect && { effect }),
    ...(goaway && { goaway }),
    ...(rule.max_concurrent_streams !== undefined && { maxConcurrentStreams: rule.max_concurrent_streams }),
    ...(rule.initial_concurrent_streams !== undefined && {
      initialConcurrentStreams: rule.initial_concurrent_streams,
    }),
    ...(rule.mint_interval_seconds !== undefined && { mintIntervalSeconds: rule.mint_interval_seconds }),
    ...(rule.expires_in !== undefined && { accessTokenSeconds: rule.expires_in }),
    source,
  };
}

function buildEffect(rule: WireRule): FaultEffect | undefined {
  if (rule.reset !== undefined) return { kind: 'reset', when: rule.reset === 'after' ? 'after' : 'before' };
  if (rule.half_open) return { kind: 'silence' };
  if (rule.status === undefined && (rule.reason === undefined || rule.goaway_every !== undefined))
    return undefined;
  const { status = 500, reason = 'UNKNOWN' } = completeAnswer(rule);
  const answer: AnswerFault = {
    kind: 'answer',
    status,
    reason,
    ...(rule.message !== undefined && { message: rule.message }),
    ...(rule.field !== undefined && { field: rule.field }),
    ...(rule.body !== undefined && { body: rule.body }),
    ...(rule.retry_after !== undefined && { retryAfter: String(rule.retry_after) }),
    ...(rule.timestamp !== undefined && { timestampMilliseconds: rule.timestamp }),
  };
  return answer;
}

function buildGoaway(rule: WireRule): GoawayFault | undefined {
  if (rule.goaway_every === undefined) return undefined;
  const reason = rule.status === undefined ? (rule.reason ?? 'Shutdown') : 'Shutdown';
  return {
    every: rule.goaway_every,
    errorCode: rule.goaway_code ?? 0,
    reason: rule.goaway_json === false ? undefined : reason,
  };
}
