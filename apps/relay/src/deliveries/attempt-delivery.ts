import { type ApnsEnvironment, type DeliveryFault, vendorPayloadLimitBytes } from '@waxwing/protocol';
import type { Clock, Log } from '@waxwing/service';
import { buildApnsBody } from './apns/apns-notification.js';
import type { AppRegistry, AppRoute } from './apps/app-registry.js';
import type { CredentialBreakers } from './apps/credential-breakers.js';
import type { DeletionBreakers } from './apps/deletion-breakers.js';
import type { Delivery } from './delivery.js';
import type { DeliveryMetrics } from './delivery-metrics.js';
import { fcmDataBytes } from './fcm/fcm-message.js';
import { findPolicy } from './policy/find-policy.js';
import { judgeAnswer, type Outcome } from './policy/judge-answer.js';
import type { VendorAnswer } from './vendor-answer.js';

/** What came of one attempt, and what must be remembered with it. */
export type Attempt =
  | { readonly kind: 'sent'; readonly workedEnvironment?: ApnsEnvironment }
  | { readonly kind: 'gone'; readonly reason: string; readonly ifRegisteredBefore: number }
  /** `isTry` is false when the notification was only held back, which does not count against it. */
  | { readonly kind: 'retry'; readonly reason: string; readonly at: number; readonly isTry: boolean }
  | { readonly kind: 'rejected'; readonly reason: string; readonly fault: DeliveryFault };

export interface AttemptOptions {
  /** Tries made before this one. */
  readonly triesBefore: number;
  /** What has not left by then (Unix milliseconds) is not sent any more. */
  readonly notAfter: number;
}

export interface DeliveryAttemptsOptions {
  readonly apps: AppRegistry;
  readonly credentials: CredentialBreakers;
  readonly deletions: DeletionBreakers;
  readonly metrics: DeliveryMetrics;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly delayDivisor: number;
}

interface Answered {
  readonly route: AppRoute;
  readonly environment: ApnsEnvironment;
  readonly answer: VendorAnswer;
  /** The token was called bad by one of Apple's systems and the other could not be asked. */
  readonly isInDoubt?: boolean;
}

const sent: Attempt = { kind: 'sent' };

/** One try at reaching one device: the right app, its breaker, the vendor, first aid, the verdict. */
export class DeliveryAttempts {
  readonly #options: DeliveryAttemptsOptions;

  constructor(options: DeliveryAttemptsOptions) {
    this.#options = options;
  }

  /** Never rejects for what a vendor does; rejects when the database cannot be used. */
  async attempt(delivery: Delivery, options: AttemptOptions): Promise<Attempt> {
    const { target } = delivery.device;
    const environment = target.tokenKind === 'apns' ? target.apnsEnvironment : 'production';
    const route = this.#options.apps.find(delivery, environment);
    if (route === undefined) {
      const reason = this.#options.apps.isConfigured ? 'APP_NOT_SERVED' : 'DELIVERY_NOT_CONFIGURED';
      return this.#reject(delivery, reason, 'relay-configuration');
    }
    if (payloadBytes(delivery) > vendorPayloadLimitBytes) {
      return this.#reject(delivery, 'PAYLOAD_TOO_LARGE', 'server');
    }
    const admission = this.#options.credentials.admit(route.appId);
    if (admission.kind === 'held') {
      return { kind: 'retry', reason: admission.reason, at: admission.until, isTry: false };
    }
    if (admission.kind === 'probe') await this.#options.credentials.prepareProbe();
    // The credential may have been replaced just now.
    const current =
      admission.kind === 'probe' ? (this.#options.apps.find(delivery, environment) ?? route) : route;
    const answered = await this.#ask({ delivery, route: current, environment, notAfter: options.notAfter });
    return this.#conclude(delivery, answered, options.triesBefore + 1, admission.kind === 'probe');
  }

  async #ask(question: Question): Promise<Answered> {
    const first = await this.#send(question);
    if (first.answer.kind === 'accepted') return first;
    const { firstAid } = findPolicy(question.route.vendor, first.answer);
    if (firstAid === undefined) return first;
    if (firstAid === 'other-environment') return this.#askOtherEnvironment(question, first);
    if (firstAid === 'fresh-token') await question.route.sender.refreshCredential();
    return this.#send(question);
  }

  /** Only when both of Apple's systems call a token bad is it dead. Where the other one cannot be asked, nobody knows. */
  async #askOtherEnvironment(question: Question, first: Answered): Promise<Answered> {
    const environment = question.environment === 'production' ? 'sandbox' : 'production';
    const route = this.#options.apps.find(question.delivery, environment);
    const canAsk = route !== undefined && this.#options.credentials.admit(route.appId).kind === 'go';
    if (!canAsk) return { ...first, isInDoubt: true };
    const second = await this.#send({ ...question, route, environment });
    const isKeyRefused =
      second.answer.kind !== 'accepted' &&
      /^(credential-trouble|mint-throttled)$/.test(findPolicy(route.vendor, second.answer).outcome);
    return isKeyRefused ? { ...first, isInDoubt: true } : second;
  }

  async #send({ delivery, route, environment, notAfter }: Question): Promise<Answered> {
    return { route, environment, answer: await route.sender.send(delivery, { environment, notAfter }) };
  }

  #conclude(
    delivery: Delivery,
    answered: Answered,
    tries: number,
    isProbe: boolean,
  ): Attempt | Promise<Attempt> {
    const { route, answer, environment } = answered;
    const { target } = delivery.device;
    const isElsewhere = target.tokenKind === 'apns' && environment !== target.apnsEnvironment;
    const { credentials, deletions, metrics } = this.#options;
    if (answer.kind !== 'accepted') return this.#concludeUnsent(delivery, answered, tries, isProbe);
    deletions.noteSent(route.appId);
    metrics.count(route.vendor, 'sent', answer);
    const attempt: Attempt = isElsewhere ? { kind: 'sent', workedEnvironment: environment } : sent;
    return credentials.isOpen(route.appId) ? credentials.worked(route.appId).then(() => attempt) : attempt;
  }

  async #concludeUnsent(
    delivery: Delivery,
    { route, answer, isInDoubt }: Answered,
    tries: number,
    isProbe: boolean,
  ): Promise<Attempt> {
    const { clock, random, delayDivisor, credentials, metrics } = this.#options;
    const { vendor, appId } = route;
    const judged = judgeAnswer({ vendor, delivery, answer, tries }, { now: clock(), random, delayDivisor });
    if (judged.kind === 'credential-trouble') {
      metrics.count(vendor, judged.kind, answer);
      const notBefore = judged.trouble === 'mint-throttled' ? route.sender.renewableAt : 0;
      const at = await credentials.refused(route, judged.reason, notBefore);
      return { kind: 'retry', reason: judged.reason, at, isTry: false };
    }
    if (answer.kind === 'refused') await credentials.worked(appId);
    else if (isProbe) credentials.inconclusive(appId);
    const outcome: Exclude<Outcome, { kind: 'credential-trouble' }> =
      isInDoubt && judged.kind === 'gone'
        ? { kind: 'rejected', reason: judged.reason, fault: 'registration' }
        : judged;
    const attempt = await this.#weighDeath(appId, outcome);
    metrics.count(vendor, attempt.kind, answer);
    if (attempt.kind === 'rejected') this.#logRejection(delivery, attempt.reason, attempt.fault);
    return attempt;
  }

  async #weighDeath(
    appId: string,
    outcome: Exclude<Outcome, { kind: 'credential-trouble' }>,
  ): Promise<Attempt> {
    if (outcome.kind === 'retry') return { ...outcome, isTry: true };
    if (outcome.kind !== 'gone' || (await this.#options.deletions.mayDelete(appId))) return outcome;
    return { kind: 'rejected', reason: `DELETIONS_FROZEN_${outcome.reason}`, fault: 'vendor' };
  }

  #reject(delivery: Delivery, reason: string, fault: DeliveryFault): Attempt {
    this.#options.metrics.countUnsent(delivery.notification.urgency.vendor, reason);
    this.#logRejection(delivery, reason, fault);
    return { kind: 'rejected', reason, fault };
  }

  #logRejection({ device }: Delivery, reason: string, fault: DeliveryFault): void {
    const level = fault === 'relay' || fault === 'relay-configuration' ? 'error' : 'info';
    this.#options.log[level]({ device: device.id, reason, fault }, 'a notification was rejected');
  }
}

interface Question {
  readonly delivery: Delivery;
  readonly route: AppRoute;
  readonly environment: ApnsEnvironment;
  readonly notAfter: number;
}

function payloadBytes({ notification }: Delivery): number {
  return notification.urgency.vendor === 'fcm'
    ? fcmDataBytes(notification)
    : Buffer.byteLength(buildApnsBody(notification));
}
