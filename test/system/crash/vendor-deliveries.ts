import { type JsonObject, parseJson } from '@waxwing/protocol';

/**
 * The transports that the relay distinguishes. FCM messages have three forms. UnifiedPush endpoints differ from Web
 * Push endpoints by a query string.
 */
export const transports = [
  'FCM token',
  'FCM fid',
  'FCM android_v2',
  'APNs',
  'Web Push',
  'UnifiedPush',
] as const;
export type Transport = (typeof transports)[number];

/** A delivery that a vendor's stand-in received for a token. */
export interface VendorDelivery {
  readonly transport: Transport;
  readonly token: string;
  /** Name (`push_account_id` or `push_key_id`) and value of the field that identifies the phone's key. */
  readonly key: { readonly name: string; readonly id: string };
  readonly encrypted: string;
}

/** Decrypts a push (RFC 8291) for the phone at an endpoint; `undefined` for an unknown endpoint. */
export type OpenPush = (endpoint: string, body: Buffer) => JsonObject | undefined;

/**
 * Reads all deliveries that the stand-ins received. For web push, the token is the endpoint. @throws Error if the
 * stand-ins have dropped deliveries.
 */
export async function readDeliveries(
  vendorsUrl: string,
  openPush: OpenPush = () => undefined,
): Promise<VendorDelivery[]> {
  const statistics = await readJson(`${vendorsUrl}/stats`);
  const { forgotten } = statistics.deliveries as { readonly forgotten: number };
  if (forgotten > 0) throw new Error(`the stand-ins dropped ${forgotten} deliveries: run fewer rounds`);
  const { deliveries } = await readJson(`${vendorsUrl}/deliveries`);
  return (deliveries as readonly JsonObject[]).map((delivery) => {
    const payload = payloadOf(delivery, openPush);
    const name = 'push_key_id' in payload ? 'push_key_id' : 'push_account_id';
    return {
      transport: transportOf(delivery),
      token: String(delivery.token),
      key: { name, id: String(payload[name]) },
      encrypted: String(payload.encrypted_data),
    };
  });
}

function transportOf({ vendor, token, body }: JsonObject): Transport {
  if (vendor === 'webpush') return String(token).includes('?') ? 'UnifiedPush' : 'Web Push';
  if (vendor === 'apns') return 'APNs';
  const { message } = body as { readonly message: JsonObject };
  if ('android_v2' in message) return 'FCM android_v2';
  return 'fid' in message ? 'FCM fid' : 'FCM token';
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
