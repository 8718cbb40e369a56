import type { Attack, AttackReport, Counts } from './attack.js';
import type { Target } from './attack-world.js';
import { Attacker } from './attacker.js';
import { type Experience, experience } from './honest-user.js';
import type { Holdings } from './process-probe.js';
import type { Scale } from './scale.js';

const measurements = 3;
const mostMilliseconds = 200;
const mostSlowdown = 2;
/** Allowed latency of an honest user during an attack, as a multiple of the latency without the attack. */
const mostTimesAsLong = 5;
const recoveryMilliseconds = 30_000;
const lookAgainMilliseconds = 200;
/** Allowed memory after the attack, as a multiple of the memory before it. */
const memoryGrowth = 1.2;
/** Responses that are allowed on every held connection: it stayed open too long, or exceeded a limit. */
const heldTooLong = ['408 REQUEST_TIMEOUT', '503 SERVICE_UNAVAILABLE'];
/** Part of a failure that shows that an overloaded process refused the request. */
const refusal = ': 503 ';
/** Minimum number of held connections. With fewer, the test would prove nothing. */
const fewestHeld = 20;
/** Minimum fraction of each kind of flood request that must get its expected response. */
const leastPartTried = 0.01;

/** An honest user's experience during a period. */
export interface Measured extends Experience {
  /** Upper bound for the latency of 99 out of 100 requests. */
  readonly mostMilliseconds: number;
}

/** Result of an attack. */
export interface Harm {
  readonly measured: Measured;
  readonly report: AttackReport;
  readonly before: Holdings;
  readonly after: Holdings;
  /** Errors that the process logged during the attack. */
  readonly errors: readonly string[];
  /** Violated expectations, one sentence each. */
  readonly complaints: readonly string[];
}

/**
 * Attacks the target, and measures an honest user's requests during the attack. Then ends the attack and waits until
 * the target has released its resources. Waits at most half a minute, multiplied by the factor by which other programs
 * slow the target down.
 */
export async function measureAttack(target: Target, attack: Attack, scale: Scale): Promise<Harm> {
  const { probe } = target;
  await experience(target.honest, scale.warmingRequests);
  const before = await probe.look();
  const errorsBefore = probe.errors().length;
  const attacker = await Attacker.start(attack);
  let measured: Measured;
  let inForce: Holdings;
  try {
    await attacker.inForce();
    inForce = attack.kind === 'hold' ? await whenHeld(target) : await probe.glance();
    measured = await measureService(target, scale.measuredRequests);
    if (attack.kind !== 'hold') await attacker.over();
  } finally {
    await attacker.stop();
  }
  const { report } = attacker;
  const after = await whenGivenBack(target, before);
  if (isOnlySlow(measured)) {
    measured = besides(measured, await experience(target.honest, scale.measuredRequests));
  }
  const errors = probe.errors().slice(errorsBefore);
  const complaints = [
    ...complaintsOf(measured),
    ...complaintsOfAnswers(attack, report),
    ...(attack.kind === 'hold' ? complaintsOfHeld(inForce) : []),
    ...complaintsOfHoldings(before, after),
    ...errors.slice(0, 3).map((line) => `the process logged an error: ${line}`),
  ];
  return { measured, report, before, after, errors, complaints };
}

/**
 * Measures an honest user's requests.
 *
 * The machine is shared, so the latency bound is multiplied by the factor by which other programs slow the target down.
 * Above a factor of two, only success is checked, not latency. The measurement is repeated up to three times if
 * requests were too slow or refused because of overload: a stall that the attack did not cause is temporary. Any other
 * failure always counts.
 */
export async function measureService(target: Target, requests: number): Promise<Measured> {
  let measured = await measureOnce(target, requests);
  for (let again = 1; again < measurements && isOnlySlow(measured); again++) {
    measured = await measureOnce(target, requests);
  }
  return measured;
}

/** Returns the measurement with a latency bound that allows for a machine that is slow even without an attack. */
export function besides(measured: Measured, unattacked: Experience): Measured {
  const most = Math.max(measured.mostMilliseconds, mostTimesAsLong * unattacked.p99Milliseconds);
  return { ...measured, mostMilliseconds: most };
}

function isOnlySlow(measured: Measured): boolean {
  return (
    Object.keys(measured.failures).every((what) => what.includes(refusal)) &&
    complaintsOf(measured).length > 0
  );
}

/** Violated expectations, one sentence each. */
export function complaintsOf({ failures, p99Milliseconds, mostMilliseconds: most }: Measured): string[] {
  const failed = Object.entries(failures).map(([what, times]) => `failed ${times} times: ${what}`);
  if (p99Milliseconds < most) return failed;
  return [...failed, `99 of 100 requests took up to ${p99Milliseconds} ms, but ${most} ms is the limit`];
}

async function measureOnce({ honest, probe }: Target, requests: number): Promise<Measured> {
  const endOfMeasurement = probe.slowdown();
  const experienced = await experience(honest, requests);
  const slowdown = endOfMeasurement();
  const most = slowdown > mostSlowdown ? Number.POSITIVE_INFINITY : Math.round(mostMilliseconds * slowdown);
  return { ...experienced, mostMilliseconds: most };
}

/** Unexpected responses to the attackers, one sentence each. */
export function complaintsOfAnswers(attack: Attack, { done, answers }: AttackReport): string[] {
  if (done === 0) return ['the attackers made no connection or request'];
  if (attack.kind === 'cut') return [];
  if (attack.kind === 'hold') {
    const right = [...attack.answers, ...heldTooLong];
    return strangeAnswers('connections are held', right, answers.held ?? {});
  }
  const expected = new Map(attack.requests.map(({ what, answers }) => [what, answers]));
  return [...expected].flatMap(([what, right]) => {
    // An attack without a total may get few responses, so any allowed response counts as the most frequent one.
    const usual = attack.total === undefined ? right : right.slice(0, 1);
    return complaintsOfRefusal(what, { right, usual }, answers[what] ?? {});
  });
}

function complaintsOfRefusal(
  what: string,
  { right, usual }: { readonly right: readonly string[]; readonly usual: readonly string[] },
  counts: Counts,
): string[] {
  const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const tried = usual.reduce((sum, answer) => sum + (counts[answer] ?? 0), 0);
  return [
    // An overloaded process may refuse requests with 503. If it refuses nearly all of them, nothing is tested.
    ...strangeAnswers(what, [...right, '503 SERVICE_UNAVAILABLE'], counts),
    ...(tried > 0 && tried >= done * leastPartTried
      ? []
      : [`while ${what}, only ${tried} of ${done} requests were answered ${usual.join(' or ')}`]),
  ];
}

function strangeAnswers(what: string, right: readonly string[], counts: Counts): string[] {
  return Object.entries(counts)
    .filter(([answer]) => !right.includes(answer))
    .map(([answer, count]) => `while ${what}, ${count} requests were answered ${answer}`);
}

/** Complains if too few connections were held for the test to prove anything. */
function complaintsOfHeld({ connections }: Holdings): string[] {
  return connections >= fewestHeld ? [] : [`only ${connections} connections were held`];
}

/** Polls, because the target may not have accepted all of the attackers' connections yet. */
async function whenHeld({ probe }: Target): Promise<Holdings> {
  const isOver = timeIsOver(probe, recoveryMilliseconds);
  for (;;) {
    const now = await probe.glance();
    if (isOver() || complaintsOfHeld(now).length === 0) return now;
    await new Promise((resolve) => setTimeout(resolve, lookAgainMilliseconds));
  }
}

/**
 * Returns a function that tells whether the time is over. The time is multiplied by the factor by which other programs
 * slow the target down.
 */
function timeIsOver(probe: Target['probe'], milliseconds: number): () => boolean {
  const startedAt = performance.now();
  const slowdownSinceThen = probe.slowdown();
  return () => performance.now() - startedAt >= milliseconds * slowdownSinceThen();
}

async function whenGivenBack({ probe }: Target, before: Holdings): Promise<Holdings> {
  const timedOut = timeIsOver(probe, recoveryMilliseconds);
  for (;;) {
    // At first, the target is still accepting connections that the attackers have already closed. `look` triggers a
    // garbage collection, so it is called only after that.
    const isOver = timedOut();
    if (isOver || complaintsOfUsage(await probe.glance()).length === 0) {
      const now = await probe.look();
      if (isOver || complaintsOfHoldings(before, now).length === 0) return now;
    }
    await new Promise((resolve) => setTimeout(resolve, lookAgainMilliseconds));
  }
}

function complaintsOfUsage(after: Holdings): string[] {
  const held = (['connections', 'requestsInFlight', 'bodyBytesInFlight'] as const).filter(
    (name) => after[name] > 0,
  );
  return held.map((name) => `afterwards there are ${after[name]} ${name}`);
}

function complaintsOfHoldings(before: Holdings, after: Holdings): string[] {
  const grown = (['residentBytes', 'heapBytes'] as const).filter(
    (name) => after[name] > before[name] * memoryGrowth,
  );
  return [
    ...complaintsOfUsage(after),
    ...grown.map((name) => `${name} grew from ${before[name]} to ${after[name]}`),
  ];
}
