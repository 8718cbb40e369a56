import type {
  DeliveryFault,
  DeliveryStatus,
  RelayNotifyAnyAnswer,
  RelayNotifyResult,
  RelayReceipt,
} from '@waxwing/protocol';
import { deviceAddress, type Recipient, tokenAddress } from './recipient.js';

/** The relay's result for one device in a notify request. */
export interface DeviceResult {
  readonly status: DeliveryStatus;
  readonly reason: string | undefined;
  /** Present for `rejected`, and for `queued` while the vendor refuses the relay's credentials. */
  readonly fault: DeliveryFault | undefined;
  /** Bundle id of an app that the relay does not serve. */
  readonly app: string | undefined;
  /** Id that the relay assigned to a queued notification. It identifies the notification's receipt. */
  readonly notificationId?: string | undefined;
}

/** The reason reported for a stock relay, which returns only the number of notifications that the vendors accepted. */
export const unexplained = 'NO_REASON_GIVEN';

// Reasons from the relay and the vendors match this pattern. Any other text is reported as `OTHER`, because it could
// have any length.
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

/** Reads the receipt of a queued notification. */
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

/** Returns the addresses that the relay no longer knows. An entry in an unknown format matches no address. */
export function deadAddresses(answer: RelayNotifyAnyAnswer): ReadonlySet<string> {
  const { delete_device_ids: devices = [], delete_token_ids: tokens = [] } = answer;
  return new Set([...devices.map(deviceAddress), ...tokens.map(tokenAddress)]);
}
