import type { ApnsEnvironment } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service';
import type { Delivery } from '../delivery.js';
import type { VendorAnswer } from '../vendor-answer.js';
import type { SendOptions, VendorSender } from '../vendor-sender.js';
import type { ApnsTimings } from './apns-connection.js';
import { buildApnsNotification } from './apns-notification.js';
import { ApnsPool } from './apns-pool.js';
import type { ProviderToken } from './provider-token.js';
import { readApnsRefusal } from './read-apns-refusal.js';

export interface ApnsSenderOptions {
  readonly providerToken: ProviderToken;
  readonly urls: Readonly<Record<ApnsEnvironment, string>>;
  readonly ca: string | undefined;
  readonly clock: Clock;
  readonly timings: ApnsTimings;
  readonly maximumWaiting: number;
}

const maximumConnections = 8;

/** APNs with one team's key: production and sandbox, each with connections of its own. */
export class ApnsSender implements VendorSender {
  readonly #options: ApnsSenderOptions;
  readonly #pools: Readonly<Record<ApnsEnvironment, ApnsPool>>;

  constructor(options: ApnsSenderOptions) {
    this.#options = options;
    const { urls, ca, clock, timings, maximumWaiting } = options;
    const pool = (url: string) =>
      new ApnsPool({ url, ca, clock, timings, maximumConnections, maximumWaiting });
    this.#pools = { production: pool(urls.production), sandbox: pool(urls.sandbox) };
  }

  async send(delivery: Delivery, { environment, notAfter }: SendOptions): Promise<VendorAnswer> {
    const { providerToken } = this.#options;
    const authorization = providerToken.peek() ?? (await providerToken.get());
    const notification = buildApnsNotification(delivery);
    const result = await this.#pools[environment].send({ notification, authorization, notAfter });
    if (result.kind === 'unanswered') return result;
    return result.httpStatus === 200 ? { kind: 'accepted' } : readApnsRefusal(result);
  }

  refreshCredential(): Promise<void> {
    return this.#options.providerToken.renew();
  }

  get renewableAt(): number {
    return this.#options.providerToken.mintableAt;
  }

  async close(deadlineMilliseconds: number): Promise<void> {
    await Promise.all([
      this.#pools.production.close(deadlineMilliseconds),
      this.#pools.sandbox.close(deadlineMilliseconds),
    ]);
  }
}
