import { CommandError } from '@waxwing/service/command-line';
import type { AdminNames } from '../admin-names.js';
import { countResults, describeResults } from '../notifications/describe-results.js';
import type { SentTest } from '../notifications/send-test.js';

/** Describes the outcome of a test notification. */
export function describeTest(test: SentTest): string {
  if (test.kind === 'no-device') return 'no phone is registered.';
  if (test.kind === 'retry') return `not sent, because ${test.reason}.`;
  if (test.kind === 'refused-for-good') return `not sent, because the relay refused it: ${test.message}`;
  return `${describeResults(countResults(test.results))}.`;
}

export function testJson(test: SentTest): object {
  if (test.kind !== 'sent') return { sent: 0, not_sent: [], problem: describeTest(test) };
  const rejected = rejectedOf(test.results);
  const not_sent = rejected.map(({ status, reason = null, fault = null }) => ({ status, reason, fault }));
  return { sent: test.results.length - rejected.length, not_sent, problem: null };
}

/** Checks that every device got the notification. @throws CommandError if not. */
export function requireSent(test: SentTest, { push }: AdminNames): void {
  if (test.kind === 'sent' && rejectedOf(test.results).length === 0) return;
  throw new CommandError(`The test did not reach every phone; ${push} status names causes and remedies.`);
}

type Results = Extract<SentTest, { kind: 'sent' }>['results'];

function rejectedOf(results: Results): Results {
  return results.filter(({ status }) => status !== 'sent');
}
