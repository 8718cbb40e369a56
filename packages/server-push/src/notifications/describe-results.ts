import { type DeviceResult, unexplained } from './device-results.js';

/** A result, and the number of devices that had it. */
export interface CountedResult extends Omit<DeviceResult, 'notificationId'> {
  readonly devices: number;
}

/** Groups equal results and counts them, in order of first occurrence. */
export function countResults(results: readonly DeviceResult[]): CountedResult[] {
  const counted = new Map<string, CountedResult>();
  for (const result of results) {
    const { status, reason = '', fault = '', app = '' } = result;
    const key = [status, reason, fault, app].join(' ');
    counted.set(key, {
      status: result.status,
      reason: result.reason,
      fault: result.fault,
      app: result.app,
      devices: (counted.get(key)?.devices ?? 0) + 1,
    });
  }
  return [...counted.values()];
}

/** Explains in one phrase why a device was not notified, and who can fix it. */
export function explainResult({
  status,
  reason = unexplained,
  fault,
  app,
}: Omit<DeviceResult, 'status'> & { readonly status: string }): string {
  if (status === 'gone') return 'the relay no longer knows the phone, which will register again';
  if (status === 'queued' && fault === 'relay-configuration') {
    return `Google, Apple or the push service refuses the relay's credentials: ${reason} (ask the relay's operator)`;
  }
  if (reason === 'APP_NOT_SERVED') {
    return app === undefined
      ? 'the relay has no credentials for the app of the phone'
      : `the relay has no credentials for app ${app}`;
  }
  if (reason === 'HOST_NOT_SERVED') {
    return "the relay does not serve the host of the phone's push service (ask the relay's operator)";
  }
  if (reason === 'DELIVERY_NOT_CONFIGURED') return 'the relay has no credentials for any app';
  if (reason === unexplained) return 'the relay does not say why (ask its operator)';
  const known = fault === undefined ? undefined : remedies[fault];
  return known === undefined ? reason : `${reason} (${known})`;
}

const remedies: Readonly<Record<NonNullable<DeviceResult['fault']>, string>> = {
  server: 'a fault of this server',
  registration: 'the phone must register again',
  'relay-configuration': "ask the relay's operator",
  relay: "ask the relay's operator",
  vendor: 'Google, Apple or the push service refuses it',
};

const words = { sent: 'sent', queued: 'waiting at the relay', gone: 'gone', rejected: 'rejected' } as const;

/**
 * Describes results, such as "18 sent, 2 rejected: the relay has no credentials for app org.example.app". `sent` comes
 * first.
 */
export function describeResults(results: readonly CountedResult[]): string {
  const parts = new Map<string, number>();
  // `sent` comes first: after a cause with commas, "1 sent" would seem to be part of the cause.
  const isSent = ({ status }: CountedResult) => status === 'sent';
  for (const result of [...results].sort((a, b) => Number(isSent(b)) - Number(isSent(a)))) {
    const { status, devices } = result;
    const part = status === 'sent' ? words.sent : `${words[status]}: ${explainResult(result)}`;
    parts.set(part, (parts.get(part) ?? 0) + devices);
  }
  return [...parts].map(([part, devices]) => `${devices} ${part}`).join(', ');
}
