import { type ApnsEnvironment, type DeliveryFault, vendorPayloadLimitBytes } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { RejectionLog } from '@waxwing/service/logging';
import type { UnreadableRelayDevice } from '../../registrations/store/relay-device.js';
import type { UnreadableTokens } from '../../registrations/store/unreadable-tokens.js';
import type { ServerActivity } from '../../servers/server-activity.js';
import type { AppRegistry, AppRoute } from '../apps/app-registry.js';
import type { CredentialBreakers } from '../breakers/credential-breakers.js';
import type { DeletionBreakers } from '../breakers/deletion-breakers.js';
import { type Delivery, type EncryptedNotification, keptUntil } from '../delivery.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import {
  blamesCredential,
  type CredentialVerdict,
  failsApp,
  findPolicy,
  judgeAnswer,
  type Outcome,
  provesCredential,
  reasonOf,
  throttlesDevice,
} from '../policy/judge-answer.js';
import { payloadBytes } from '../vendors/payload-bytes.js';
import type { VendorAnswer } from '../vendors/vendor-sender.js';
import { DeviceCooldowns } from './device-cooldowns.js';
import { ReplacedNotifications } from './replaced-notifications.js';
import type { VendorOutages } from './vendor-outages.js';

export interface AttemptOptions {
  /** Number of earlier attempts. */
  readonly triesBefore: number;
  /** Number of earlier attempts that may have delivered the notification. */
  readonly doubtsBefore: number;
  /** Whether the notification was queued before this attempt. A later notification may have replaced it meanwhile. */
  readonly hasWaited: boolean;
  /** Deadline in Unix milliseconds. The relay does not send the notification after this time. */
  readonly notAfter: number;
}

type TriesBefore = Pick<AttemptOptions, 'triesBefore' | 'doubtsBefore'>;

export interface DeliveryAttemptsOptions {
  readonly apps: AppRegistry;
  readonly credentials: CredentialBreakers;
  readonly deletions: DeletionBreakers;
  readonly outages: VendorOutages;
  readonly rejections: RejectionLog;
  readonly metrics: DeliveryMetrics;
  readonly activity: Pick<ServerActivity, 'noteOutcome'>;
  readonly unreadableTokens: Pick<UnreadableTokens, 'note'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly delayDivisor: number;
}

interface Answered {
  readonly route: AppRoute;
  readonly environment: ApnsEnvironment;
  readonly answer: VendorAnswer;
  /** Whether one of Apple's environments rejected the token and the other could not be tried. */
  readonly isInDoubt?: boolean;
}

const sent: Outcome = { kind: 'sent' };
/** Outcome while the vendor refuses the app's credential. */
const heldBack = { kind: 'retry', isTry: false, fault: 'relay-configuration' } as const;
const suspensionMilliseconds = 1000;
const unreadableRetryMilliseconds = 60_000;

/**
 * Tries to deliver one notification to one device: finds the app, checks its circuit breaker, sends, and classifies the
 * vendor's response. Retries immediately if the policy requires it.
 */
export class DeliveryAttempts {
  readonly #options: DeliveryAttemptsOptions;
  readonly #cooldowns: DeviceCooldowns;
  readonly #replaced = new ReplacedNotifications();

  constructor(options: DeliveryAttemptsOptions) {
    this.#options = options;
    this.#cooldowns = new DeviceCooldowns(suspensionMilliseconds / options.delayDivisor);
  }

  /** Attempts a delivery once. A vendor failure becomes an outcome. Rejects only if the database is unavailable. */
  async attempt(delivery: Delivery, options: AttemptOptions): Promise<Outcome> {
    const { target } = delivery.device;
    const environment = target.tokenKind === 'apns' ? target.apnsEnvironment : 'production';
    const route = this.#options.apps.find(delivery, environment);
    if (route === undefined) {
      const reason = this.#options.apps.isConfigured ? 'APP_NOT_SERVED' : 'DELIVERY_NOT_CONFIGURED';
      const rejected = this.#reject(delivery, reason, 'relay-configuration');
      return target.tokenKind === 'apns' ? { ...rejected, app: target.iosAppId } : rejected;
    }
    if (payloadBytes(delivery) > vendorPayloadLimitBytes) {
      return this.#reject(delivery, 'PAYLOAD_TOO_LARGE', 'server');
    }
    if (options.hasWaited && this.#replaced.isReplaced(delivery.notification)) {
      return this.#reject(delivery, 'REPLACED', 'server');
    }
    const admission = this.#options.credentials.admit(route.appId, delivery.device);
    if (admission.kind === 'held') return { ...heldBack, reason: admission.reason, at: admission.until };
    const question: Question = { delivery, route, environment, notAfter: options.notAfter };
    if (admission.kind === 'probe') return this.#probe(question, options);
    const at = this.#cooldowns.nextTry(delivery.device.id, this.#options.clock());
    if (at !== undefined) return this.#coolDown(delivery, at);
    const answer = await route.sender.send(delivery, question);
    if (answer.kind === 'accepted') return this.#concludeSent(delivery, route, environment);
    return this.#conclude(
      delivery,
      await this.#repeatAtOnce(question, { route, environment, answer }),
      options,
    );
  }

  /**
   * Rejects a notification for a device with an unreadable token. Keeps the device, since the token may become readable
   * again.
   */
  refuseUnreadable(
    { serverId, urgency }: EncryptedNotification,
    { id, unreadable }: UnreadableRelayDevice,
  ): Outcome {
    const { activity, metrics, unreadableTokens } = this.#options;
    const { reason } = unreadable;
    metrics.countUnsent(urgency.vendor, reason);
    activity.noteOutcome(serverId, 'rejected');
    unreadableTokens.note(id, unreadable);
    return { kind: 'rejected', reason, fault: 'relay' };
  }

  /** Rejects a notification whose server is deactivated or whose push key has ended. */
  refuse({ serverId, urgency, relayDeviceId }: EncryptedNotification, reason: string): Outcome {
    const fault = 'server';
    this.#options.metrics.countUnsent(urgency.vendor, reason);
    this.#options.activity.noteOutcome(serverId, 'rejected');
    this.#options.rejections.note({ reason, fault }, relayDeviceId);
    return { kind: 'rejected', reason, fault };
  }

  /**
   * Keeps a queued notification for a device with an unreadable token until the key ring can decrypt the token or the
   * notification expires.
   */
  holdUnreadable({ id, unreadable }: UnreadableRelayDevice): Outcome {
    const { clock, delayDivisor, unreadableTokens } = this.#options;
    unreadableTokens.note(id, unreadable);
    const at = Math.ceil(clock() + unreadableRetryMilliseconds / delayDivisor);
    return { kind: 'retry', reason: unreadable.reason, at, isTry: false };
  }

  #coolDown({ notification, device }: Delivery, at: number): Outcome {
    // A notification that expires before the retry is not queued, so it must not replace another notification.
    if (at < keptUntil(notification)) {
      this.#cooldowns.hold(device.id);
      this.#replaced.note(notification);
    }
    return { kind: 'retry', reason: 'DEVICE_RESTS', at, isTry: false };
  }

  /** Reloads the operator's credential files, then probes whether a refused credential works again. */
  async #probe(question: Question, before: TriesBefore): Promise<Outcome> {
    const { credentials, apps } = this.#options;
    const { delivery, environment } = question;
    const { appId } = question.route;
    try {
      await credentials.prepareProbe();
      const route = apps.find(delivery, environment) ?? question.route;
      const first = await this.#send({ ...question, route });
      // Record the success before the repeat: Apple's other environment may answer the repeat.
      if (provesCredential(route.vendor, first.answer)) await credentials.worked(appId);
      const answered = await this.#repeatAtOnce({ ...question, route }, first);
      return await this.#conclude(delivery, answered, before);
    } finally {
      credentials.endProbe(appId);
    }
  }

  async #repeatAtOnce(question: Question, first: Answered): Promise<Answered> {
    if (first.answer.kind === 'accepted') return first;
    const { repeatAtOnce } = findPolicy(question.route.vendor, first.answer);
    if (repeatAtOnce === undefined) return first;
    if (repeatAtOnce === 'other-environment') return this.#askOtherEnvironment(question, first);
    if (repeatAtOnce === 'fresh-token') await question.route.sender.refreshCredential();
    return this.#send(question);
  }

  /**
   * Tries Apple's other environment. A token is dead only if both environments reject it. If the other environment
   * cannot be tried, marks the first answer as in doubt.
   */
  async #askOtherEnvironment(question: Question, first: Answered): Promise<Answered> {
    const environment = question.environment === 'production' ? 'sandbox' : 'production';
    const route = this.#options.apps.find(question.delivery, environment);
    // Calls `isOpen`, not `admit`, because `admit` would use up the probe of a refused credential.
    if (route === undefined || this.#options.credentials.isOpen(route.appId)) {
      return { ...first, isInDoubt: true };
    }
    const second = await this.#send({ ...question, route, environment });
    return blamesCredential(route.vendor, second.answer) ? { ...first, isInDoubt: true } : second;
  }

  async #send({ delivery, route, environment, notAfter }: Question): Promise<Answered> {
    return { route, environment, answer: await route.sender.send(delivery, { environment, notAfter }) };
  }

  #concludeSent(
    delivery: Delivery,
    route: AppRoute,
    environment: ApnsEnvironment,
  ): Outcome | Promise<Outcome> {
    const { appId, vendor } = route;
    const { notification, device } = delivery;
    const { target } = device;
    const { activity, clock, credentials, deletions, outages, metrics } = this.#options;
    this.#replaced.note(notification);
    outages.worked(route);
    deletions.noteSent(appId, delivery);
    metrics.countSent(vendor, clock() - notification.receivedAt);
    activity.noteOutcome(notification.serverId, 'sent');
    const isElsewhere = target.tokenKind === 'apns' && environment !== target.apnsEnvironment;
    const outcome: Outcome = isElsewhere ? { kind: 'sent', workedEnvironment: environment } : sent;
    return credentials.awaitsSuccess(appId) ? credentials.worked(appId).then(() => outcome) : outcome;
  }

  async #conclude(
    delivery: Delivery,
    { route, environment, answer, isInDoubt }: Answered,
    { triesBefore, doubtsBefore }: TriesBefore,
  ): Promise<Outcome> {
    if (answer.kind === 'accepted') return this.#concludeSent(delivery, route, environment);
    const { activity, clock, random, delayDivisor, credentials, outages, metrics } = this.#options;
    const { vendor, appId } = route;
    const verdict = judgeAnswer(
      { vendor, delivery, answer, tries: triesBefore + 1, doubtsBefore },
      { now: clock(), random, delayDivisor },
    );
    if (verdict.kind === 'credential-trouble' || verdict.kind === 'credential-suspected') {
      metrics.count(vendor, verdict.kind, answer);
      return this.#blameCredential(delivery, route, verdict);
    }
    if (failsApp(vendor, answer)) outages.failed(route, reasonOf(answer));
    if (provesCredential(vendor, answer)) {
      outages.worked(route);
      await credentials.worked(appId);
    }
    if (verdict.kind === 'retry' && throttlesDevice(vendor, answer)) {
      this.#cooldowns.begin(delivery.device.id, verdict.at);
    }
    const outcome =
      verdict.kind === 'gone' ? await this.#weighDeath(appId, delivery, verdict, isInDoubt) : verdict;
    metrics.count(vendor, outcome.kind, answer);
    if (outcome.kind === 'gone') activity.noteOutcome(delivery.notification.serverId, 'gone');
    if (outcome.kind === 'rejected') this.#noteRejection(delivery, outcome.reason, outcome.fault);
    return outcome;
  }

  async #blameCredential(delivery: Delivery, route: AppRoute, verdict: CredentialVerdict): Promise<Outcome> {
    const { credentials } = this.#options;
    const { reason } = verdict;
    if (verdict.kind === 'credential-trouble') {
      const notBefore = verdict.trouble === 'mint-throttled' ? route.sender.renewableAt : 0;
      return { ...heldBack, reason, at: await credentials.refused(route, reason, notBefore) };
    }
    const at = await credentials.suspected(route, delivery.device, reason);
    if (at !== undefined) return { ...heldBack, reason, at };
    const { otherwise } = verdict;
    if (otherwise.kind === 'rejected') this.#noteRejection(delivery, reason, otherwise.fault);
    return otherwise;
  }

  async #weighDeath(
    appId: string,
    delivery: Delivery,
    death: Extract<Outcome, { kind: 'gone' }>,
    isInDoubt = false,
  ): Promise<Outcome> {
    if (isInDoubt) return { kind: 'rejected', reason: death.reason, fault: 'registration' };
    if (await this.#options.deletions.mayDelete(appId, delivery)) return death;
    return { kind: 'rejected', reason: `DELETIONS_FROZEN_${death.reason}`, fault: 'vendor' };
  }

  #reject(delivery: Delivery, reason: string, fault: DeliveryFault): Outcome & { kind: 'rejected' } {
    this.#options.metrics.countUnsent(delivery.device.target.tokenKind, reason);
    this.#noteRejection(delivery, reason, fault);
    return { kind: 'rejected', reason, fault };
  }

  #noteRejection({ device, notification }: Delivery, reason: string, fault: DeliveryFault): void {
    this.#options.activity.noteOutcome(notification.serverId, 'rejected');
    this.#options.rejections.note({ reason, fault }, device.id);
  }
}

interface Question {
  readonly delivery: Delivery;
  readonly route: AppRoute;
  readonly environment: ApnsEnvironment;
  readonly notAfter: number;
}
