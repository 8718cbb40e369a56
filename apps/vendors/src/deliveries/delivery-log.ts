import type { IncomingHttpHeaders as Http1Headers } from 'node:http';
import type { IncomingHttpHeaders as Http2Headers } from 'node:http2';
import type { AppleSystem } from '../faults/fault-rule.js';

/** A notification that a stand-in accepted for delivery. */
export interface TakenNotification {
  readonly vendor: 'fcm' | 'apns' | 'webpush';
  /**
   * The target. FCM: the registration token, topic, condition or fid. APNs: the device token as in the path. Web Push:
   * the endpoint's URL.
   */
  readonly token: string;
  /** APNs environment; absent for other vendors. */
  readonly environment?: AppleSystem;
  readonly headers: Http1Headers | Http2Headers;
  /** Request body as JSON, exactly as received. For Web Push, the base64-encoded body as a JSON string. */
  readonly bodyText: string;
  readonly receivedAtMilliseconds: number;
}

const maximumDeliveries = 200_000;
const maximumBodyCharacters = 256 * 1024 * 1024;

/**
 * Log of the newest deliveries, in order of arrival. Evicts the oldest when there are more than 200,000 deliveries, or
 * more than 256 Mi characters of bodies.
 */
export class DeliveryLog {
  #deliveries: (TakenNotification | undefined)[] = [];
  #first = 0;
  #bodyCharacters = 0;
  #forgotten = 0;

  get kept(): number {
    return this.#deliveries.length - this.#first;
  }

  /** Number of evicted deliveries, without those that {@link clear} removed. */
  get forgotten(): number {
    return this.#forgotten;
  }

  add(delivery: TakenNotification): void {
    this.#deliveries.push(delivery);
    this.#bodyCharacters += delivery.bodyText.length;
    while (this.kept > maximumDeliveries || this.#bodyCharacters > maximumBodyCharacters)
      this.#forgetOldest();
  }

  clear(): void {
    this.#deliveries = [];
    this.#first = 0;
    this.#bodyCharacters = 0;
  }

  /** Returns the deliveries to `token`, or all deliveries. Compares APNs tokens case-insensitively. */
  list(token?: string): TakenNotification[] {
    const kept = this.#deliveries.slice(this.#first) as TakenNotification[];
    if (token === undefined) return kept;
    const hexadecimal = token.toLowerCase();
    return kept.filter((delivery) =>
      delivery.vendor === 'apns' ? delivery.token.toLowerCase() === hexadecimal : delivery.token === token,
    );
  }

  #forgetOldest(): void {
    this.#bodyCharacters -= this.#deliveries[this.#first]?.bodyText.length ?? 0;
    this.#deliveries[this.#first] = undefined;
    this.#first += 1;
    this.#forgotten += 1;
    if (this.#first < maximumDeliveries) return;
    this.#deliveries = this.#deliveries.slice(this.#first);
    this.#first = 0;
  }
}

/** Serializes one delivery as JSON. Inserts the body as received, because parsing would round integers above 2^53. */
export function formatDelivery(delivery: TakenNotification): string {
  const { vendor, token, environment, headers, bodyText, receivedAtMilliseconds } = delivery;
  const before = JSON.stringify({ vendor, token, environment, headers }).slice(0, -1);
  return `${before},"body":${bodyText},"received_at":${receivedAtMilliseconds}}`;
}
