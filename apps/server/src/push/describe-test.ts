import type { SentTest } from '@waxwing/server-push';
import { CommandError } from '@waxwing/service/command-line';

const faults: Readonly<Record<string, string>> = {
  'relay-configuration': "ask the relay's operator: waxwing-relay apps check says what to do",
  relay: "ask the relay's operator to look at its log",
  registration: 'open the app on the phone again',
  server: 'update this server, and report it if that does not help',
  vendor: 'Google or Apple did not take it: try again later',
};

/** Says what became of a test notification. */
export function describeTest(test: SentTest): string {
  if (test.kind === 'no-device') return 'no phone is registered.';
  if (test.kind === 'retry') return `not sent, since ${test.reason}.`;
  if (test.kind === 'refused-for-good') return `not sent, since the relay refused it: ${test.message}`;
  const { sent, rejected } = test;
  if (rejected.length === 0) return `${sent} sent.`;
  const whys = rejected.map(({ status, reason, fault }) => {
    const why = reason ?? 'the relay does not say why';
    return `${status}: ${why}${fault == null ? '' : ` (${faults[fault]})`}`;
  });
  return `${sent} sent, ${rejected.length} not: ${[...new Set(whys)].join('; ')}.`;
}

export function testJson(test: SentTest): object {
  if (test.kind !== 'sent') return { sent: 0, not_sent: [], problem: describeTest(test) };
  const not_sent = test.rejected.map(({ status, reason = null, fault = null }) => ({
    status,
    reason,
    fault,
  }));
  return { sent: test.sent, not_sent, problem: null };
}

/** @throws CommandError unless every device got it. */
export function requireSent(test: SentTest): void {
  if (test.kind === 'sent' && test.rejected.length === 0) return;
  throw new CommandError(
    'The test did not reach every phone; waxwing-server push status names causes and remedies.',
  );
}
