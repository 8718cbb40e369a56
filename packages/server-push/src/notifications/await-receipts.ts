import { setTimeout as after } from 'node:timers/promises';
import { maximumReceiptIds } from '@waxwing/protocol';
import type { RelayLink } from '../relay-link/relay-link.js';
import { type DeviceResult, readReceipt } from './device-results.js';

const pollMilliseconds = 500;

/**
 * Polls the relay for receipts of queued notifications until all results are final, or for at most
 * `timeoutMilliseconds`. Returns the last known result of each notification, in order. Ends early if the relay does not
 * answer or does not support receipts.
 */
export async function awaitReceipts(
  link: Pick<RelayLink, 'fetchReceipts'>,
  results: readonly DeviceResult[],
  timeoutMilliseconds: number,
): Promise<readonly DeviceResult[]> {
  const until = performance.now() + timeoutMilliseconds;
  const known = [...results];
  for (;;) {
    const queued = new Map<string, number>();
    for (const [index, { status, notificationId }] of known.entries()) {
      if (status === 'queued' && notificationId !== undefined) queued.set(notificationId, index);
    }
    const left = until - performance.now();
    if (queued.size === 0 || left <= 0) return known;
    await after(Math.min(pollMilliseconds, left));
    const outcome = await link.fetchReceipts([...queued.keys()].slice(0, maximumReceiptIds));
    if (outcome.kind !== 'accepted') return known;
    for (const receipt of outcome.answer.receipts) {
      const index = queued.get(receipt.notification_id);
      if (index !== undefined && receipt.status !== 'queued') known[index] = readReceipt(receipt);
    }
  }
}
