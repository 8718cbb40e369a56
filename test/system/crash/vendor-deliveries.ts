import { type JsonObject, parseJson } from '@waxwing/protocol';

/** A delivery to a vendor's stand-in for a token. */
export interface VendorDelivery {
  readonly token: string;
  /** The field that names the phone's key, `push_account_id` or `push_key_id`, and its value. */
  readonly key: { readonly name: string; readonly id: string };
  readonly encrypted: string;
}

/** All deliveries to the stand-ins. @throws Error when they had to drop some. */
export async function readDeliveries(vendorsUrl: string): Promise<VendorDelivery[]> {
  const statistics = await readJson(`${vendorsUrl}/stats`);
  const { forgotten } = statistics.deliveries as { readonly forgotten: number };
  if (forgotten > 0) throw new Error(`the stand-ins forgot ${forgotten} deliveries: run fewer rounds`);
  const { deliveries } = await readJson(`${vendorsUrl}/deliveries`);
  return (deliveries as readonly JsonObject[]).map((delivery) => {
    const body = delivery.body as JsonObject;
    const message = body.message as JsonObject | undefined;
    const payload = message === undefined ? body : (message.data as JsonObject);
    const name = 'push_key_id' in payload ? 'push_key_id' : 'push_account_id';
    return {
      token: String(delivery.token),
      key: { name, id: String(payload[name]) },
      encrypted: String(payload.encrypted_data),
    };
  });
}

async function readJson(url: string): Promise<JsonObject> {
  const response = await fetch(url);
  return parseJson(await response.text()) as JsonObject;
}
