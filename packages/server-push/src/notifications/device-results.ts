import type {
  DeliveryFault,
  DeliveryStatus,
  RelayNotifyAnyAnswer,
  RelayNotifyResult,
  RelayReceipt,
} from '@waxwing/protocol';
import { deviceAddress, type Recipient, tokenAddress } from './recipient.js';

/** What the relay said of one device that it was to notify. */
export interface DeviceResult {
  readonly status: DeliveryStatus;
  readonly reason: string | undefined;
  /** For `rejected`, and for `queued` while someone must change something. */
  readonly fault: DeliveryFault | undefined;
  /** The bundle id of an app that the relay does not serve. */
  readonly app: string | undefined;
  /** The relay's name of a queued notification, which finds its receipt. */
  readonly notificationId?: string | undefined;
}

/** The reason of a stock relay, which only counts what the vendors accepted. */
export const unexplained = 'NO_REASON_GIVEN';

// The relay's and the vendors' reasons are such names. Others could be of any length.
const reasonPattern = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const appPattern = /^[.a-zA-Z0-9-]{1,255}$/;

/** Reads one result for each recipient of a request, in order. */
export function readDeviceResults(
  recipients: readonly Recipient[],
  answer: RelayNotifyAnyAnswer,
): DeviceResult[] {
  if (answer.results?.length === recipients.length) return answer.results.map(readQueuedResult);
  const dead = deadAddresses(answer);
  let sent = answer.android_successfully_sent_count + answer.apple_successfully_sent_count;
  return recipients.map(({ address }): DeviceResult => {
    if (dead.has(address)) return { ...plain, status: 'gone' };
    sent -= 1;
    if (sent >= 0) return { ...plain, status: 'sent' };
    return { ...plain, status: 'rejected', reason: unexplained, fault: 'relay' };
  });
}

const plain = { reason: undefined, fault: undefined, app: undefined };

function readQueuedResult(result: RelayNotifyResult): DeviceResult {
  const { status, notification_id: notificationId } = result;
  return status === 'queued' && notificationId != null
    ? { ...readResult(result), notificationId }
    : readResult(result);
}

/** Reads the receipt of a notification that was queued. */
export function readReceipt(receipt: RelayReceipt): DeviceResult {
  return readResult(receipt);
}

function readResult({ status, reason, fault, app }: RelayNotifyResult): DeviceResult {
  return {
    status,
    reason: reason == null ? undefined : reasonPattern.test(reason) ? reason : 'OTHER',
    fault: fault ?? (status === 'rejected' ? 'relay' : undefined),
    app: app != null && appPattern.test(app) ? app : undefined,
  };
}

/** The addresses that the relay no longer knows. An entry of another form is none of ours. */
export function deadAddresses(answer: RelayNotifyAnyAnswer): ReadonlySet<string> {
  const { delete_device_ids: devices = [], delete_token_ids: tokens = [] } = answer;
  return new Set([...devices.map(deviceAddress), ...tokens.map(tokenAddress)]);
}
