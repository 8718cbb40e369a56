import { encodeBase64, formatPushAccountId } from '@waxwing/protocol/phone';
import { createPushAccount } from '../accounts/create-push-account.js';
import { type PushAccount, rowsOf } from '../accounts/push-account.js';
import { buildRegistration, type PushToken } from '../build-registration.js';
import { ApiError, UnreachableError } from '../chat-api/api-error.js';
import type { ChatApi } from '../chat-api/chat-api.js';
import type { EventQueue, PushDeviceState } from '../chat-api/event-queue.js';
import type { BouncerKeyChoice, NoBouncerKey } from '../key-list/bouncer-key-choice.js';
import { requirePushToken } from '../require-push-token.js';
import { sealRegistration } from '../seal-registration.js';
import { dateRegistration, type FollowedTime, timeToFollow } from '../time-to-follow.js';
import { createDeviceWatch } from './device-watch.js';
import { isKeyRefused, type ReasonToRegister, reasonToRegister } from './reason-to-register.js';
import type { RegistrarContext } from './registrar-context.js';
import { type RegistrationStatus, registrationStatus } from './registration-status.js';
import { statusCodeOf, statusOfError } from './status-of-error.js';
import { wrongAccountStatus } from './wrong-account-status.js';

// One for the state found, one after a refused key or a wrong clock, one for a new account.
const mostRegistrationsOfOneSync = 3;

/**
 * Brings an account's registration up to date and returns its status; see `Registrar.sync`.
 *
 * @param settleTimeoutMilliseconds how long to wait for the relay's decision.
 */
export async function syncRegistration(
  context: RegistrarContext,
  settleTimeoutMilliseconds: number,
): Promise<RegistrationStatus> {
  const pushToken = await context.pushToken();
  if (pushToken === undefined) return registrationStatus('no-token');
  requirePushToken(pushToken);
  try {
    const queue = await context.api.registerEventQueue(['push_device']);
    const deadline = context.clock() + settleTimeoutMilliseconds;
    const status =
      wrongAccountStatus(context.identity, queue) ??
      (await registerOrRefresh(context, { pushToken, queue, deadline }));
    await deleteQueue(context.api, queue.queueId);
    return status;
  } catch (error) {
    return statusOfError(error);
  }
}

interface SyncRun {
  readonly pushToken: PushToken;
  readonly queue: EventQueue;
  /** Unix milliseconds by the device's clock. */
  readonly deadline: number;
}

async function registerOrRefresh(context: RegistrarContext, run: SyncRun): Promise<RegistrationStatus> {
  let account = await findOrCreateAccount(context);
  if (account === undefined) return registrationStatus('no-storage', { warning: noStorageWarning });
  let watch = createDeviceWatch({ ...context, ...run, pushAccountId: account.pushAccountId });
  let known = run.queue.pushDevices.get(formatPushAccountId(account.pushAccountId));

  let key = await context.bouncerKeys.choose(keyListOrigin(context.api));

  for (let registrations = 0; ; ) {
    const time = followedTime(context, key);
    const reason = nextReason({ context, run, account, known, key, time, registrations });
    if (reason !== undefined) {
      if (key.source === 'none') {
        const { pushAccountId } = account;
        return registrationStatus('no-usable-key', { warning: key.warning, pushAccountId });
      }
      if (isLockedOut({ account, known, time, registrations })) {
        const replaced = await replaceAccount(context, account);
        if (replaced === undefined) return registrationStatus('no-storage', { warning: noStorageWarning });
        account = replaced;
        watch = createDeviceWatch({ ...context, ...run, pushAccountId: account.pushAccountId });
      }
      const timestamp = dateOf({ account, time, registrations });
      account = await register(context, { account, run, key, reason, timestamp });
      registrations += 1;
      known = { status: 'pending' };
    } else {
      if (known?.status !== 'pending') return statusOf({ context, account, known, key, time });
      known = await watch.nextState();
      if (known.status === 'pending') return statusOf({ context, account, known, key, time });
      if (isKeyRefused(known)) key = await context.bouncerKeys.choose(keyListOrigin(context.api));
    }
  }
}

const noStorageWarning =
  "The store of accounts does not return the account that was just stored: without its keys this phone could open no notification, so it is not registered. Check that the app's storage keeps what it is given.";

/** Returns `undefined` if the store does not keep accounts, as does `replaceAccount`. */
async function findOrCreateAccount(context: RegistrarContext): Promise<PushAccount | undefined> {
  const { accounts, identity } = context;
  const [existing] = rowsOf(await accounts.list(), identity);
  return existing ?? createPushAccount(accounts, identity, context);
}

/**
 * Whether the relay refuses all further registrations of this account: someone presented a later sequence for it, or
 * the phone sealed one while its clock was ahead. A server's clock cannot cause this. The last attempt was dated by
 * the later of the two clocks, and a sequence derived from a server's time stays within what that server can lead the
 * phone to.
 */
function isLockedOut({ account, known, time, registrations }: LastTry): boolean {
  if (registrations === mostRegistrationsOfOneSync - 1 && isExpired(known)) return true;
  const nextSequence = (account.sequence ?? 0) + 1;
  return time.isServerTime && Math.floor(nextSequence / 1000) > Math.floor(time.latest / 1000);
}

/** Creates a new push account for the same user. Sequences presented for the old one do not affect it. */
async function replaceAccount(
  context: RegistrarContext,
  account: PushAccount,
): Promise<PushAccount | undefined> {
  await context.accounts.remove(account.pushAccountId);
  return createPushAccount(context.accounts, context.identity, context);
}

function keyListOrigin(api: ChatApi) {
  return { fetchKeyList: () => api.getBouncerKeys() };
}

/** State of an account during a sync. */
interface RegistrationState {
  readonly context: RegistrarContext;
  readonly account: PushAccount;
  readonly known: PushDeviceState | undefined;
  readonly key: BouncerKeyChoice | NoBouncerKey;
  readonly time: FollowedTime;
}

interface Step extends RegistrationState {
  readonly run: SyncRun;
  readonly registrations: number;
}

function nextReason({ run, account, known, key, time, registrations }: Step): ReasonToRegister | undefined {
  if (registrations >= mostRegistrationsOfOneSync) return undefined;
  // Of this sync's own registrations, only these two failures can succeed on a retry.
  const failedJustNow = registrations > 0 && known?.status === 'failed';
  if (failedJustNow && !isKeyRefused(known) && !(isExpired(known) && time.isServerTime)) return undefined;
  return reasonToRegister({
    sent: account.registration,
    known,
    pushToken: run.pushToken,
    key: key.source === 'none' ? undefined : key,
    now: unixSeconds(time),
  });
}

type LastTry = Pick<Step, 'account' | 'known' | 'time' | 'registrations'>;

/** Unix seconds. */
function dateOf({ account, time, registrations }: Omit<LastTry, 'known'>): number {
  const sent = account.registration;
  const before = sent === undefined ? undefined : sent.timestamp * 1000;
  return Math.floor(dateRegistration({ time, before, isRepeat: registrations > 0 }) / 1000);
}

interface RegisterTask {
  readonly account: PushAccount;
  readonly run: SyncRun;
  readonly key: BouncerKeyChoice;
  readonly reason: ReasonToRegister;
  /** Unix seconds. */
  readonly timestamp: number;
}

async function register(
  { api, sodium, accounts }: RegistrarContext,
  { account: before, run, key, reason, timestamp }: RegisterTask,
): Promise<PushAccount> {
  const { pushToken, queue } = run;
  const sequence = Math.max((before.sequence ?? 0) + 1, timestamp * 1000);
  const binding = { audience: queue.realmUuid, pushAccountId: before.pushAccountId, sequence };
  const registration = buildRegistration(pushToken, { timestamp, ...binding });
  const account: PushAccount = { ...before, sequence };
  // Stored before it is sent: a reused sequence would make two registrations indistinguishable in order.
  await accounts.put(account);
  await api.registerPushDevice({
    tokenKind: pushToken.tokenKind,
    pushAccountId: account.pushAccountId,
    pushPublicKey: encodeBase64(account.keyPair.publicKey),
    bouncerPublicKey: key.publicKey,
    encryptedPushRegistration: sealRegistration(sodium, registration, key.publicKey),
  });
  const repeatedForSequence =
    reason === 'key-refused' ? key.sequence : account.registration?.repeatedForSequence;
  const sent = { pushToken, bouncerPublicKey: key.publicKey, timestamp };
  const registered: PushAccount = {
    ...account,
    registration: repeatedForSequence === undefined ? sent : { ...sent, repeatedForSequence },
  };
  await accounts.put(registered);
  return registered;
}

const refusedKeyWarning =
  'The relay does not accept the bouncerPublicKey that the app is built with: it is retired, or that of another relay; compare it with what waxwing-relay keys export-public prints.';

function statusOf({ context, account, known, key, time }: RegistrationState): RegistrationStatus {
  const isRefused = known === undefined || known.status === 'failed';
  const judged = isRefused ? statusCodeOf(known?.errorCode) : known.status;
  const code = time.isServerTime ? judged : 'clock-wrong';
  const isOwnKeyRefused = key.source === 'built-in' && isKeyRefused(known);
  const warnings = [
    key.warning,
    isOwnKeyRefused ? refusedKeyWarning : undefined,
    time.clocksAgree ? undefined : clockWarning(context),
  ];
  return registrationStatus(code, {
    pushAccountId: account.pushAccountId,
    errorCode: known?.errorCode,
    keySource: key.source === 'none' ? undefined : key.source,
    warning: warnings.filter((warning) => warning !== undefined).join(' ') || undefined,
  });
}

async function deleteQueue(api: ChatApi, queueId: string): Promise<void> {
  try {
    await api.deleteEventQueue(queueId);
  } catch (error) {
    // The registration is sent, and the server deletes idle queues by itself.
    if (!(error instanceof ApiError || error instanceof UnreachableError)) throw error;
  }
}

function followedTime({ api, clock }: RegistrarContext, key: BouncerKeyChoice | NoBouncerKey): FollowedTime {
  const keyListIssuedAt = key.source === 'none' ? undefined : key.issuedAt;
  return timeToFollow({ device: clock(), server: api.serverClock.now(), keyListIssuedAt });
}

function isExpired(known: PushDeviceState | undefined): boolean {
  return known?.status === 'failed' && known.errorCode === 'REQUEST_EXPIRED';
}

function clockWarning({ api, clock }: RegistrarContext): string {
  const [server, device] = [api.serverClock.now(), clock()].map((time) => new Date(time).toUTCString());
  return `The server says that it is ${server}, and the phone that it is ${device}.`;
}

function unixSeconds({ now }: FollowedTime): number {
  return Math.floor(now / 1000);
}
