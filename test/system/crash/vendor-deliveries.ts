import { type JsonObject, parseJson } from '@waxwing/protocol';

/** A delivery to a vendor's stand-in for a token. */
export interface VendorDelivery {
  readonly token: string;
  /** The field that names the phone's key, `push_account_id` or `push_key_id`, and its value. */
  readonly key: { readonly name: string; readonly id: string };
  readonly encrypted: string;
}

/** Decrypts a push (RFC 8291) for the phone at an endpoint; `undefined` for an unknown endpoint. */
export type OpenPush = (endpoint: string, body: Buffer) => JsonObject | undefined;

/**
 * All deliveries to the stand-ins. The token of a push is its endpoint. @throws Error when the stand-ins had to drop some.
 */
export async function readDeliveries(
  vendorsUrl: string,
  openPush: OpenPush = () => undefined,
): Promise<VendorDelivery[]> {
  const statistics = await readJson(`${vendorsUrl}/stats`);
  const { forgotten } = statistics.deliveries as { readonly forgotten: number };
  if (forgotten > 0) throw new Error(`the stand-ins forgot ${forgotten} deliveries: run fewer rounds`);
  const { deliveries } = await readJson(`${vendorsUrl}/deliveries`);
  return (deliveries as readonly JsonObject[]).map((delivery) => {
    const payload = payloadOf(delivery, openPush);
    const name = 'push_key_id' in payload ? 'push_key_id' : 'push_account_id';
    return {
      token: String(delivery.token),
      key: { name, id: String(payload[name]) },
      encrypted: String(payload.encrypted_data),
    };
  });
}

function payloadOf({ vendor, token, body }: JsonObject, openPush: OpenPush): JsonObject {
  if (vendor === 'webpush') return openPush(String(token), Buffer.from(String(body), 'base64')) ?? {};
  const message = (body as JsonObject).message as JsonObject | undefined;
  return message === undefined ? (body as JsonObject) : (message.data as JsonObject);
}

async function readJson(url: string): Promise<JsonObject> {
  const response = await fetch(url);
  return parseJson(await response.text()) as JsonObject;
}
