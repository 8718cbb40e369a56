import type { RelayDeviceId } from '@waxwing/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { apnsPolicy, fcmPolicy } from '#relay/deliveries/policy/vendor-policy.js';
import {
  apnsRequest,
  apnsToken,
  appsFor,
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
  topic,
} from './deliveries-under-test.js';

/**
 * The required result for one reason, according to the vendors' documentation. Delays are the minimum and maximum in
 * seconds.
 */
interface Expectation {
  readonly status: 'gone' | 'rejected' | 'queued';
  readonly fault?: string;
  readonly delay?: readonly [number, number];
  /** Outcome in the metric, if it differs from `status`. */
  readonly outcome?: string;
  /** Further fields of the stand-in's fault rule, if the reason alone is not enough. */
  readonly script?: object;
  /** Reason in the relay's response, if it differs from the scripted reason. */
  readonly shown?: string;
}

const gone: Expectation = { status: 'gone' };
const blame = (fault: string): Expectation => ({ status: 'rejected', fault });
/** Result if the vendor refuses the relay's credential, which only the operator can change. */
const ofCredential = { status: 'queued', fault: 'relay-configuration' } as const;
const held: Expectation = { ...ofCredential, delay: [60, 60], outcome: 'credential_trouble' };
const suspected: Expectation = { status: 'queued', delay: [60, 75], outcome: 'credential_suspected' };
const fcmServerError: Expectation = { status: 'queued', delay: [10, 12.5], outcome: 'retry' };
const apnsServerError = fcmServerError;

const fcm: Record<string, Expectation> = {
  UNREGISTERED: gone,
  INVALID_TOKEN: { ...gone, script: { reason: 'INVALID_ARGUMENT' }, shown: 'INVALID_TOKEN' },
  INVALID_ARGUMENT: {
    ...blame('relay'),
    script: { field: 'message.data', message: 'Android message is too big' },
  },
  FAILED_PRECONDITION: blame('relay'),
  SENDER_ID_MISMATCH: blame('relay-configuration'),
  UNAUTHENTICATED: held,
  THIRD_PARTY_AUTH_ERROR: suspected,
  PERMISSION_DENIED: held,
  NOT_FOUND: suspected,
  QUOTA_EXCEEDED: { status: 'queued', delay: [60, 75], outcome: 'retry' },
  RESOURCE_EXHAUSTED: { status: 'queued', delay: [60, 75], outcome: 'retry' },
  INTERNAL: fcmServerError,
  UNSPECIFIED_ERROR: fcmServerError,
  UNAVAILABLE: fcmServerError,
  OAUTH_REFUSED: held,
  OAUTH_UNAVAILABLE: fcmServerError,
};

const apns: Record<string, Expectation> = {
  Unregistered: gone,
  ExpiredToken: gone,
  BadDeviceToken: gone,
  DeviceTokenNotForTopic: blame('registration'),
  BadTopic: blame('registration'),
  MissingDeviceToken: blame('registration'),
  TopicDisallowed: blame('relay-configuration'),
  BadCollapseId: blame('relay'),
  BadExpirationDate: blame('relay'),
  BadMessageId: blame('relay'),
  BadPriority: blame('relay'),
  DuplicateHeaders: blame('relay'),
  InvalidPushType: blame('relay'),
  MissingTopic: blame('relay'),
  PayloadEmpty: blame('relay'),
  PayloadTooLarge: blame('relay'),
  BadPath: blame('relay'),
  MethodNotAllowed: blame('relay'),
  IdleTimeout: apnsServerError,
  ExpiredProviderToken: held,
  UnrelatedKeyIdInToken: suspected,
  InvalidProviderToken: held,
  MissingProviderToken: held,
  BadCertificate: held,
  BadCertificateEnvironment: held,
  BadEnvironmentKeyIdInToken: suspected,
  Forbidden: suspected,
  TooManyProviderTokenUpdates: { ...ofCredential, delay: [1200, 1200], outcome: 'credential_trouble' },
  TooManyRequests: { status: 'queued', delay: [30, 37.5], outcome: 'retry' },
  InternalServerError: apnsServerError,
  ServiceUnavailable: apnsServerError,
  Shutdown: apnsServerError,
};

const topicOf = (reason: string): string => `org.example.${reason}`;
const time = { now: Date.UTC(2026, 0, 5, 12) };
let relay: DeliveriesUnderTest;
beforeAll(async () => {
  relay = await startDeliveriesUnderTest({
    clock: () => time.now,
    timings: { delayDivisor: 1 },
    apps: (vendors) => {
      const {
        fcm,
        apns: [entry],
      } = appsFor(vendors);
      // Each reason has a separate app, so that its failures count separately.
      const apps = [...Object.keys(apns), 'new403', 'new418', 'new599', 'page403', 'page410', 'page502'];
      return { fcm, apns: [{ ...entry, topics: [topic, ...apps.map(topicOf)] }] };
    },
  });
});
// Without this, notifications that one test leaves queued would be retried during the next test.
afterEach(() => dropJobs());
afterAll(() => relay.close());

async function expectOutcome(
  vendor: string,
  reason: string,
  expected: Expectation,
  device: RelayDeviceId,
  request: object,
) {
  const { body } = await relay.notify([request]);
  const shown = expected.shown ?? reason;
  const { notification_id: id, ...result } = body.results[0] ?? { status: 'none' };
  expect(result).toEqual({
    status: expected.status,
    reason: shown,
    ...(expected.fault !== undefined && { fault: expected.fault }),
  });
  const isGone = expected.status === 'gone';
  expect(body.delete_device_ids).toEqual(isGone ? [device] : []);
  expect((await relay.device(device)).expired_at).toBe(isGone ? time.now : null);
  const outcome = expected.outcome?.replace('_', '-') ?? expected.status;
  expect(await relay.metrics.text()).toContain(
    `waxwing_deliveries_total{vendor="${vendor}",outcome="${outcome}",reason="${shown}"} `,
  );
  if (expected.delay === undefined) return expect(id).toBeUndefined();
  const jobs = await dropJobs();
  const delaySeconds = (Math.max(...jobs.map(({ at }) => at)) - time.now) / 1000;
  expect(delaySeconds).toBeGreaterThanOrEqual(expected.delay[0]);
  expect(delaySeconds).toBeLessThanOrEqual(expected.delay[1]);
}

/** Deletes all queued jobs. Returns them. */
async function dropJobs() {
  const jobs = await relay.database.jobs.list({ kind: 'deliver-notification', limit: 1000 });
  for (const job of jobs) await relay.database.jobs.drop(job.id);
  return jobs;
}

describe('the outcome table for FCM', () => {
  it('covers every reason in the policy', () => {
    expect(Object.keys(fcm).sort()).toEqual(Object.keys(fcmPolicy).sort());
  });

  it.each(Object.entries(fcm))(
    'has the outcome of %s, and whether the token expires',
    async (reason, expected) => {
      const token = `fcm-${reason}`;
      const device = await relay.addFcm(token);
      if (reason.startsWith('OAUTH')) {
        // The relay asks the token endpoint only after the current access token has expired.
        time.now += 2 * 60 * 60_000;
        const fault = reason === 'OAUTH_REFUSED' ? { reason: 'invalid_grant' } : { status: 503 };
        await relay.faults([{ vendor: 'oauth', ...fault }]);
      } else {
        await relay.faults([{ vendor: 'fcm', token, reason, ...expected.script }]);
      }
      await expectOutcome('fcm', reason, expected, device, fcmRequest(device));
      if (expected !== held) return;
      await relay.faults([]);
      time.now += 61_000;
      const good = await relay.addFcm(`${token}-after`);
      const { body } = await relay.notify([fcmRequest(good)]);
      expect(body.results).toEqual([{ status: 'sent' }]);
    },
  );
});

describe('the outcome table for APNs', () => {
  it('covers every reason in the policy', () => {
    expect(Object.keys(apns).sort()).toEqual(Object.keys(apnsPolicy).sort());
  });

  it.each(Object.entries(apns).map(([reason, expected], index) => [reason, expected, index] as const))(
    'has the outcome of %s, and whether the token expires',
    async (reason, expected, index) => {
      const token = apnsToken(1000 + index);
      // Each test uses a separate app, so that a refused credential does not affect other tests.
      const device = await relay.addApns(token, { appId: topicOf(reason) });
      await relay.faults([{ vendor: 'apns', token, reason, ...expected.script }]);
      await expectOutcome('apns', reason, expected, device, apnsRequest(device));
    },
  );
});

describe('an unknown reason', () => {
  it.each([
    ['fcm', 418, 'rejected', 'relay'],
    ['fcm', 403, 'queued', undefined],
    ['fcm', 429, 'queued', undefined],
    ['fcm', 599, 'queued', undefined],
    ['apns', 418, 'rejected', 'relay'],
    ['apns', 403, 'queued', undefined],
    ['apns', 599, 'queued', undefined],
  ] as const)(
    'gets the outcome of its HTTP status, and the token is kept: %s with %i is %s',
    async (vendor, status, outcome, fault) => {
      time.now += 61_000;
      const token = vendor === 'fcm' ? `new-${status}` : apnsToken(status);
      const device =
        vendor === 'fcm'
          ? await relay.addFcm(token)
          : await relay.addApns(token, { appId: topicOf(`new${status}`) });
      await relay.faults([{ vendor, token, status, reason: 'BrandNew' }]);
      const { body } = await relay.notify([vendor === 'fcm' ? fcmRequest(device) : apnsRequest(device)]);
      expect(body.results[0]).toMatchObject({ status: outcome, ...(fault !== undefined && { fault }) });
      expect((await relay.device(device)).expired_at).toBeNull();
      expect(await relay.metrics.text()).toContain(`vendor="${vendor}",outcome=`);
      expect(await relay.metrics.text()).toContain('reason="other"');
      expect(await relay.metrics.text()).not.toContain('BrandNew');
    },
  );
});

describe('a response in an unexpected format', () => {
  const notes = { page: '<html>Go away</html>', odd: JSON.stringify({ reason: 'x'.repeat(65) }) };
  it.each([
    ['fcm', 502, 'page', 'queued', [10, 12.5]],
    ['fcm', 401, 'page', 'queued', [60, 75]],
    ['fcm', 403, 'page', 'queued', [60, 75]],
    ['fcm', 429, 'page', 'queued', [60, 75]],
    ['fcm', 404, 'page', 'rejected', undefined],
    ['apns', 502, 'page', 'queued', [10, 12.5]],
    ['apns', 403, 'page', 'queued', [60, 75]],
    ['apns', 410, 'page', 'rejected', undefined],
    ['apns', 410, 'odd', 'rejected', undefined],
  ] as const)(
    'gets the outcome of its HTTP status: %s with %i (%s) is %s',
    async (vendor, status, note, outcome, delay) => {
      time.now += 61_000;
      const device =
        vendor === 'fcm'
          ? await relay.addFcm(`page-${status}`)
          : await relay.addApns(apnsToken(2000 + status), { appId: topicOf(`page${status}`) });
      await relay.faults([{ vendor, status, reason: 'Any', body: notes[note] }]);
      const { body } = await relay.notify([vendor === 'fcm' ? fcmRequest(device) : apnsRequest(device)]);
      expect(body.results[0]).toMatchObject({ status: outcome, reason: 'UNKNOWN' });
      expect((await relay.device(device)).expired_at).toBeNull();
      const jobs = await dropJobs();
      if (delay === undefined) return;
      const seconds = (Math.max(...jobs.map(({ at }) => at)) - time.now) / 1000;
      expect(seconds).toBeGreaterThanOrEqual(delay[0]);
      expect(seconds).toBeLessThanOrEqual(delay[1]);
    },
  );
});
