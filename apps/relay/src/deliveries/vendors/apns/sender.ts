import type { ApnsEnvironment } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { Delivery } from '../../delivery.js';
import type { HttpProxy } from '../http-proxy.js';
import { ReachLog } from '../reach-log.js';
import type { SendOptions, VendorAnswer, VendorSender } from '../vendor-sender.js';
import type { ApnsApp } from './app.js';
import type { ApnsTimings } from './connection.js';
import type { ApnsResult } from './exchange.js';
import { buildApnsNotification } from './message.js';
import { ApnsPool } from './pool.js';
import { readApnsRefusal } from './read-refusal.js';
import type { ProviderToken } from './token.js';

export interface ApnsSenderOptions {
  readonly app: Pick<ApnsApp, 'hasFilteringEntitlement'>;
  readonly providerToken: ProviderToken;
  readonly urls: Readonly<Record<ApnsEnvironment, string>>;
  readonly ca: string | string[] | undefined;
  /** Name of the setting for `ca`, for error messages. */
  readonly authoritiesSetting: string;
  /** Default: connects without a proxy. */
  readonly proxy?: HttpProxy | undefined;
  readonly clock: Clock;
  readonly timings: ApnsTimings;
  readonly maximumWaiting: number;
  readonly log: Log;
}

const maximumConnections = 8;

/** Sends to APNs with one team's key. Production and sandbox have separate connection pools. */
export class ApnsSender implements VendorSender {
  readonly hostStates = [];
  readonly #options: ApnsSenderOptions;
  readonly #pools: Readonly<Record<ApnsEnvironment, ApnsPool>>;

  constructor(options: ApnsSenderOptions) {
    this.#options = options;
    const { urls, ca, authoritiesSetting, proxy, clock, timings, maximumWaiting, log } = options;
    const pool = (url: string) => {
      const reach = new ReachLog(log, url, authoritiesSetting);
      return new ApnsPool({ url, ca, proxy, clock, timings, maximumConnections, maximumWaiting, reach });
    };
    this.#pools = { production: pool(urls.production), sandbox: pool(urls.sandbox) };
  }

  send(delivery: Delivery, options: SendOptions): Promise<VendorAnswer> {
    const { providerToken } = this.#options;
    const authorization = providerToken.peek();
    if (authorization !== undefined) return this.#sendAs(authorization, delivery, options);
    return providerToken.get().then((minted) => this.#sendAs(minted, delivery, options));
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

  #sendAs(
    authorization: string,
    delivery: Delivery,
    { environment, notAfter }: SendOptions,
  ): Promise<VendorAnswer> {
    const notification = buildApnsNotification(delivery, this.#options.app);
    return this.#pools[environment].send({ notification, authorization, notAfter }).then(toAnswer);
  }
}

const accepted: VendorAnswer = { kind: 'accepted' };

function toAnswer(result: ApnsResult): VendorAnswer {
  if (result.kind === 'unanswered') return result;
  return result.httpStatus === 200 ? accepted : readApnsRefusal(result);
}
