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
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
  }
  throw new Error('the notification did not reach Google’s stand-in');
}
