import { setTimeout as wait } from 'node:timers/promises';

/** A delivery that Google's stand-in received for a phone. */
export interface VendorDelivery {
  readonly body: { readonly message: { readonly data: Record<string, string> } };
}

const pollMilliseconds = 50;

/** Returns all deliveries to the token so far, oldest first. */
export async function deliveriesTo(token: string, vendorsUrl: string): Promise<VendorDelivery[]> {
  const response = await fetch(`${vendorsUrl}/deliveries?token=${encodeURIComponent(token)}`);
  const { deliveries } = (await response.json()) as { deliveries: VendorDelivery[] };
  return deliveries;
}

/** Waits for the first delivery to the token. @throws Error on a timeout. */
export async function firstDeliveryTo(
  token: string,
  vendorsUrl: string,
  timeoutMilliseconds: number,
): Promise<VendorDelivery> {
  const deadline = Date.now() + timeoutMilliseconds;
  while (Date.now() < deadline) {
    const [first] = await deliveriesTo(token, vendorsUrl);
    if (first !== undefined) return first;
    await wait(pollMilliseconds);
  }
  throw new Error('the notification did not reach Google’s stand-in');
}

const patientPollMilliseconds = 250;

/** Yields each delivery to the token as it arrives, except the first `seen` deliveries, until the signal aborts. */
export async function* laterDeliveriesTo(
  token: string,
  vendorsUrl: string,
  { seen, signal }: { seen: number; readonly signal: AbortSignal },
): AsyncGenerator<VendorDelivery> {
  while (!signal.aborted) {
    const deliveries = await deliveriesTo(token, vendorsUrl);
    // The stand-in's list may have been cleared since the last poll.
    yield* deliveries.slice(Math.min(seen, deliveries.length));
    seen = deliveries.length;
    await wait(patientPollMilliseconds, undefined, { signal }).catch((error: Error) => {
      if (error.name !== 'AbortError') throw error;
    });
  }
}
