import { setTimeout as wait } from 'node:timers/promises';

/** What Google's stand-in was handed for a phone. */
export interface VendorDelivery {
  readonly body: { readonly message: { readonly data: Record<string, string> } };
}

const pollMilliseconds = 50;

/** What was delivered to the token so far, oldest first. */
export async function deliveriesTo(token: string, vendorsUrl: string): Promise<VendorDelivery[]> {
  const response = await fetch(`${vendorsUrl}/deliveries?token=${encodeURIComponent(token)}`);
  const { deliveries } = (await response.json()) as { deliveries: VendorDelivery[] };
  return deliveries;
}

/** The first delivery to the token. @throws when there is none in time. */
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

/** Each delivery to the token after the first `seen`, as it comes, until the signal. */
export async function* laterDeliveriesTo(
  token: string,
  vendorsUrl: string,
  { seen, signal }: { seen: number; readonly signal: AbortSignal },
): AsyncGenerator<VendorDelivery> {
  while (!signal.aborted) {
    const deliveries = await deliveriesTo(token, vendorsUrl);
    // Somebody may have emptied the list.
    yield* deliveries.slice(Math.min(seen, deliveries.length));
    seen = deliveries.length;
    await wait(patientPollMilliseconds, undefined, { signal }).catch((error: Error) => {
      if (error.name !== 'AbortError') throw error;
    });
  }
}
