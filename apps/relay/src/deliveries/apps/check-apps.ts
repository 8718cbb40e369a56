import { randomUUID } from 'node:crypto';
import { formatPushAccountId, type PushAccountId, type PushTarget } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import { beforeAllDevices } from '../../registrations/store/relay-device.js';
import type { RealmId } from '../../servers/server-tables.js';
import type { DeliveriesConfiguration } from '../deliveries-configuration.js';
import { type Delivery, type VendorUrgency, wakeAps } from '../delivery.js';
import type { ApnsApp } from '../vendors/apns/app.js';
import type { FcmApp } from '../vendors/fcm/app.js';
import type { VendorAnswer, VendorSender } from '../vendors/vendor-sender.js';
import type { WebPushApp } from '../vendors/webpush/app.js';
import type { AppRegistry } from './app-registry.js';
import { describeApnsTrouble, describeFcmTrouble } from './check-sentences.js';
import type { App } from './credential-names.js';

export interface AppCheck {
  /** The app's id, as in `apps status`. */
  readonly app: string;
  readonly ok: boolean;
  /** The vendor's reason, or why the vendor did not answer; `null` if no request was sent. */
  readonly reason: string | null;
  readonly sentence: string;
}

export interface CheckAppsOptions {
  readonly apps: Pick<AppRegistry, 'entries' | 'vapidKeyOf'>;
  readonly configuration: DeliveriesConfiguration;
  readonly clock: Clock;
  /** Bundle id for checking entries that serve any bundle id. */
  readonly topic: string | undefined;
}

// No phone has these tokens: Google's tokens are longer, and Apple's are random.
const impossibleFcmTokens = { token: 'no-phone-has-this-token', fid: 'f000000000000000000000' };
const impossibleApnsToken = '0'.repeat(64);
const waitMilliseconds = 30_000;

/**
 * Checks each app's credential with its vendor. Sends to a token that no phone has, so that the vendor's response is
 * about the credential alone.
 */
export async function checkApps(options: CheckAppsOptions): Promise<AppCheck[]> {
  const checks = options.apps.entries.map(({ app, sender }) => {
    if (app.vendor === 'webpush') return [checkWebPush(app, options.apps)];
    return app.vendor === 'fcm' ? checkFcm(app, sender, options) : checkApns(app, sender, options);
  });
  return (await Promise.all(checks)).flat();
}

/**
 * Checks one app as {@link checkApps} does. Resolves to `undefined` if the id is unknown or names an app in Apple's
 * sandbox, which is not checked.
 */
export async function checkOneApp(
  { apps, ...options }: Omit<CheckAppsOptions, 'topic'>,
  appId: string,
): Promise<AppCheck | undefined> {
  const entries = apps.entries.filter(({ app }) => namesOf(app).includes(appId));
  const vapidKeyOf = (name: string) => apps.vapidKeyOf(name);
  const checks = await checkApps({ ...options, apps: { entries, vapidKeyOf }, topic: undefined });
  return checks.find(({ app }) => app === appId);
}

function namesOf(app: App): string[] {
  if (app.vendor === 'webpush') return [`webpush:${app.name}`];
  if (app.vendor === 'fcm') return [`fcm:${app.projectId}`];
  return (app.topics === '*' ? ['*'] : [...app.topics]).map((topic) => `apns:${topic}:production`);
}

/** Checks only that the key pair exists: phones use different push services, and each accepts any key pair. */
function checkWebPush({ name }: WebPushApp, apps: CheckAppsOptions['apps']): AppCheck {
  const app = `webpush:${name}`;
  if (apps.vapidKeyOf(name) !== undefined) {
    const sentence = 'the key ring has its VAPID key; the push service of each phone checks it.';
    return { app, ok: true, reason: null, sentence };
  }
  const sentence =
    'the key ring has no VAPID key for this app: start the relay, or make it reload its apps file.';
  return { app, ok: false, reason: null, sentence };
}

async function checkFcm(
  app: FcmApp,
  sender: VendorSender,
  { configuration, clock }: CheckAppsOptions,
): Promise<AppCheck[]> {
  const target: PushTarget = { tokenKind: 'fcm', token: impossibleFcmTokens[app.addressBy] };
  const delivery = deliveryTo(target, { vendor: 'fcm', priority: 'normal' }, clock());
  const answer = await sender.send(delivery, {
    environment: 'production',
    notAfter: clock() + waitMilliseconds,
    isValidateOnly: true,
  });
  const trouble = describeFcmTrouble({ app, answer, url: configuration.fcmBaseUrl });
  return [conclude(`fcm:${app.projectId}`, answer, trouble)];
}

async function checkApns(
  app: ApnsApp,
  sender: VendorSender,
  { configuration, clock, topic: chosen }: CheckAppsOptions,
): Promise<AppCheck[]> {
  const name = (topic: string) => `apns:${app.topics === '*' ? '*' : topic}:production`;
  const topics = app.topics === '*' ? [chosen] : [...app.topics];
  const checks = topics.map(async (topic) => {
    if (topic === undefined) {
      const sentence = 'the entry serves every bundle id: name one of your apps with --topic.';
      return { app: name('*'), ok: false, reason: null, sentence };
    }
    const target: PushTarget = {
      tokenKind: 'apns',
      token: impossibleApnsToken,
      iosAppId: topic,
      apnsEnvironment: 'production',
    };
    const urgency = { vendor: 'apns', priority: 5, pushType: 'background', aps: wakeAps } as const;
    const answer = await sender.send(deliveryTo(target, urgency, clock()), {
      environment: 'production',
      notAfter: clock() + waitMilliseconds,
    });
    const url = configuration.apnsUrls.production;
    return conclude(name(topic), answer, describeApnsTrouble({ app, answer, topic, url }));
  });
  return Promise.all(checks);
}

function deliveryTo(target: PushTarget, urgency: VendorUrgency, now: number): Delivery {
  const realmId = 0 as RealmId;
  const device = { id: beforeAllDevices, realmId, target, registeredAt: now, expiredAt: undefined };
  const notification = {
    serverId: '',
    realmId,
    realmUuid: '',
    relayDeviceId: beforeAllDevices,
    notificationId: randomUUID(),
    addressee: formatPushAccountId(0n as PushAccountId),
    encryptedData: '',
    urgency,
    receivedAt: now,
    timeToLiveSeconds: 0,
    collapseId: undefined,
  };
  return { notification, device };
}

function conclude(app: string, answer: VendorAnswer, trouble: string | undefined): AppCheck {
  if (trouble === undefined) {
    const sentence = 'the vendor accepts the credential.';
    return { app, ok: true, reason: reasonOf(answer), sentence };
  }
  return { app, ok: false, reason: reasonOf(answer), sentence: trouble };
}

function reasonOf(answer: VendorAnswer): string {
  if (answer.kind === 'accepted') return 'ACCEPTED';
  return answer.kind === 'refused' ? answer.reason : answer.why;
}
