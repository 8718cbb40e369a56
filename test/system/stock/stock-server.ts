import { askRelay, RelayFailure, type RelayRequestOptions } from './relay-requests.js';
import {
  type Fields,
  refuse,
  type StockAnswer,
  type StockDevice,
  StockDevices,
  type TokenRegistration,
} from './stock-devices.js';
import { type Counts, HourlyReport } from './stock-hourly-report.js';
import {
  answerToUser,
  type NotifyAnswer,
  pushRequest,
  readNotifyAnswer,
  type StockNotification,
} from './stock-notify.js';

export interface StockRealm {
  readonly uuid: string;
  readonly url: string;
  readonly name: string;
}

export interface StockUser {
  readonly userId: number;
  readonly uuid: string;
}

export interface StockServerOptions extends RelayRequestOptions {
  readonly realm: StockRealm;
  readonly clock: () => number;
}

interface Job {
  readonly run: () => Promise<void>;
  readonly what: string;
  failedTries: number;
}

const retriesOfJob = 3;
/**
 * Acts as a stock Zulip 12 server with one realm. Sends the same requests to the relay in the same order, reads
 * responses in the same way, and retries after the same errors.
 */
export class StockServer {
  readonly realm: StockRealm;
  readonly devices: StockDevices;
  readonly report: HourlyReport;
  /** Log lines for administrators. */
  readonly log: string[] = [];
  /** Jobs that have exhausted their retries. */
  readonly exhausted: string[] = [];
  /** By user: tokens that the user registered before the app supported encryption. */
  readonly plainTokens = new Map<number, { readonly token: string; readonly kind: 'apns' | 'fcm' }[]>();
  readonly #options: StockServerOptions;
  readonly #jobs: Job[] = [];

  constructor(options: StockServerOptions) {
    this.#options = options;
    this.realm = options.realm;
    this.devices = new StockDevices(options.clock, (registration) => this.#enqueueRegistration(registration));
    this.report = new HourlyReport(options, this.log);
  }

  /** Whether push is on for the realm; see {@link HourlyReport}. */
  get isPushOn(): boolean {
    return this.report.isPushOn;
  }

  /** Runs the hourly job. */
  async reportHourly(counts?: Counts): Promise<void> {
    await this.report.send(counts);
  }

  /** Enqueues a notification for the worker. */
  notify(user: StockUser, notification: StockNotification): void {
    const what = `notification to ${user.userId}`;
    this.#jobs.push({ what, failedTries: 0, run: () => this.#deliver(user, notification) });
  }

  /** `POST /mobile_push/e2ee/test_notification`. */
  async testNotification(user: StockUser, { device_id }: Fields = {}): Promise<StockAnswer> {
    const active = this.#active(user.userId).filter(
      ({ deviceId }) => device_id === undefined || deviceId === Number(device_id),
    );
    const none = refuse('No active registered push device', 'NO_ACTIVE_PUSH_DEVICE');
    if (active.length === 0) return none;
    const test = { type: 'test', time: Math.floor(this.#options.clock() / 1000) } as const;
    try {
      const { deleteTokenIds } = await this.#ask(user, test, active);
      const areAllDead = deleteTokenIds.length === active.length;
      return areAllDead ? none : { status: 200, body: { result: 'success', msg: '' } };
    } catch (error) {
      return answerToUser(asRelayFailure(error));
    }
  }

  /** Replaces the user's API key. Removes the user's devices, and enqueues a job that removes the plaintext tokens. */
  regenerateApiKey(user: StockUser): void {
    for (const { deviceId } of this.devices.of(user.userId)) this.devices.remove(user.userId, deviceId);
    const form = { user_uuid: user.uuid, user_id: String(user.userId), realm_uuid: this.realm.uuid };
    const run = async () => {
      await askRelay(this.#options, 'POST', 'push/unregister/all', { form });
      this.plainTokens.delete(user.userId);
    };
    this.#jobs.push({ what: `removal of tokens of ${user.userId}`, failedTries: 0, run });
  }

  /** Runs the worker until its queue is empty. Immediately retries a failed job, up to three times. */
  async work(): Promise<void> {
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) {
      try {
        await job.run();
      } catch (error) {
        const failure = asRelayFailure(error);
        if (!failure.isRetried) {
          this.log.push(`ERROR ${job.what}: ${failure.kind}: ${failure.message}`);
          continue;
        }
        job.failedTries += 1;
        if (job.failedTries <= retriesOfJob) this.#jobs.unshift(job);
        else this.exhausted.push(job.what);
      }
    }
  }

  #active(userId: number): StockDevice[] {
    return this.devices.of(userId).filter(({ tokenId }) => tokenId !== null);
  }

  #enqueueRegistration(registration: TokenRegistration): void {
    const what = `registration of device ${registration.device.deviceId}`;
    this.#jobs.push({ what, failedTries: 0, run: () => this.#register(registration) });
  }

  async #register(registration: TokenRegistration): Promise<void> {
    const { device, tokenId, bouncerPublicKey, encryptedPushRegistration } = registration;
    const form = {
      realm_uuid: this.realm.uuid,
      token_id: tokenId,
      encrypted_push_registration: encryptedPushRegistration,
      bouncer_public_key: bouncerPublicKey,
    };
    try {
      await askRelay(this.#options, 'POST', 'push/e2ee/register', { form });
    } catch (error) {
      this.#registrationFailed(device, asRelayFailure(error));
      return;
    }
    this.devices.change(
      device,
      { tokenId, pendingTokenId: null },
      { push_token_id: tokenId, pending_push_token_id: null },
    );
    await this.#removePlainTokens(device.userId);
  }

  /** Records a failed registration. @throws RelayFailure if the request must be retried. */
  #registrationFailed(device: StockDevice, failure: RelayFailure): void {
    if (failure.isRetried) throw failure;
    if (failure.needsAdministrator) {
      this.log.push(`ERROR Push device registration request for device_id=${device.deviceId} failed.`);
      throw new RelayFailure('connection', failure.message);
    }
    if (failure.kind === 'unhandled') throw failure;
    const { code } = failure;
    this.devices.change(device, { errorCode: code }, { push_registration_error_code: code });
  }

  /** Removes the user's plaintext tokens, also at the relay. */
  async #removePlainTokens(userId: number): Promise<void> {
    const tokens = this.plainTokens.get(userId) ?? [];
    this.plainTokens.delete(userId);
    for (const { token, kind } of tokens) {
      const token_kind = kind === 'apns' ? '1' : '2';
      const form = { user_id: String(userId), realm_uuid: this.realm.uuid, token, token_kind };
      await askRelay(this.#options, 'POST', 'push/unregister', { form });
    }
  }

  /** Delivers to plaintext tokens first, then to encrypted devices. */
  async #deliver(user: StockUser, notification: StockNotification): Promise<void> {
    await this.#deliverPlain(user);
    const active = this.#active(user.userId);
    if (active.length === 0) return;
    try {
      await this.#ask(user, notification, active);
    } catch (error) {
      const failure = asRelayFailure(error);
      if (!failure.refusesRealm) throw failure;
      this.log.push(`WARNING Bouncer refused to send E2EE push notification: ${failure.message}`);
    }
  }

  async #deliverPlain({ userId, uuid }: StockUser): Promise<void> {
    const tokens = this.plainTokens.get(userId) ?? [];
    if (tokens.length === 0) return;
    const named = (kind: string) => tokens.filter((each) => each.kind === kind).map(({ token }) => token);
    const json = {
      user_uuid: uuid,
      user_id: userId,
      realm_uuid: this.realm.uuid,
      apns_payload: { alert: 'x' },
      gcm_payload: { event: 'message' },
      gcm_options: { priority: 'high' },
      android_devices: named('fcm'),
      apple_devices: named('apns'),
    };
    const answer = await askRelay(this.#options, 'POST', 'push/notify', { json });
    const { android_devices, apple_devices } = answer.deleted_devices as Record<string, string[]>;
    const deleted = new Set([...(android_devices ?? []), ...(apple_devices ?? [])]);
    this.plainTokens.set(
      userId,
      tokens.filter(({ token }) => !deleted.has(token)),
    );
  }

  /**
   * Sends a notification to one user's devices in a single request, with one element per device. @throws RelayFailure
   */
  async #ask(
    user: StockUser,
    notification: StockNotification,
    active: readonly StockDevice[],
  ): Promise<NotifyAnswer> {
    const { url: realm_url, name: realm_name } = this.realm;
    const whole = { ...notification, realm_url, realm_name, user_id: user.userId };
    const push_requests = active.map((device) => pushRequest(device, whole));
    const json = { realm_uuid: this.realm.uuid, push_requests };
    try {
      const answer = readNotifyAnswer(await askRelay(this.#options, 'POST', 'push/e2ee/notify', { json }));
      this.report.setStatus(answer.canPush, answer.expectedEnd);
      if (answer.canPush) this.report.lastSuccessAt = this.#options.clock();
      this.#clearTokens(user.userId, answer.deleteTokenIds);
      return answer;
    } catch (error) {
      const failure = asRelayFailure(error);
      if (failure.refusesRealm) this.report.setStatus(false, null);
      throw failure;
    }
  }

  #clearTokens(userId: number, tokenIds: readonly string[]): void {
    for (const device of this.devices.of(userId)) {
      if (device.tokenId === null || !tokenIds.includes(device.tokenId)) continue;
      this.devices.change(device, { tokenId: null }, { push_token_id: null });
    }
  }
}

/** Returns the error if it is a RelayFailure, and rethrows it otherwise. */
function asRelayFailure(error: unknown): RelayFailure {
  if (error instanceof RelayFailure) return error;
  throw error;
}
