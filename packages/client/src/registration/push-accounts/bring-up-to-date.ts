import { encodeBase64, formatPushAccountId } from '@waxwing/protocol/phone';
import { makePushAccount } from '../../accounts/create-push-account.js';
import type { PushAccount } from '../../accounts/push-account.js';
import type { SentRegistration } from '../../accounts/sent-registration.js';
import { buildRegistration } from '../../build-registration.js';
import type { PushDeviceState } from '../../chat-api/event-queue.js';
import type { BouncerKeyChoice, NoBouncerKey } from '../../key-list/bouncer-key-choice.js';
import { sealRegistration } from '../../seal-registration.js';
import type { FollowedTime } from '../../time-to-follow.js';
import { destroyUnusedKeys } from '../destroy-unused-keys.js';
import { findOrCreateAccount } from '../find-or-create-account.js';
import type { RegistrarContext } from '../registrar-context.js';
import type { RegistrationStatus } from '../registration-status.js';
import { dateAfter, followedTime } from '../registration-time.js';
import { canRepeatAtOnce, countRepeat, isKeyRefusal, mostRegistrationsOfOneSync } from '../repeat-policy.js';
import { noUsableKey, settledStatus } from '../settled-status.js';
import { realmOf, type SyncRun } from '../sync-run.js';
import { createDeviceWatch } from './device-watch.js';
import { isKeyPairLost, leaveClientDevice } from './leave-client-device.js';
import { type ReasonToRegister, reasonToRegister } from './reason-to-register.js';

/** Registers an account by its push account id: sends registrations until the server's state matches the phone's. */
export async function bringUpToDate(context: RegistrarContext, run: SyncRun): Promise<RegistrationStatus> {
  let account = await leaveClientDevice(context, await findOrCreateAccount(context));
  const watchOf = ({ pushAccountId }: PushAccount) =>
    createDeviceWatch({ ...context, ...run, pushAccountId });
  let watch = watchOf(account);
  let known = run.queue.pushDevices.get(formatPushAccountId(account.pushAccountId));
  const chooseKey = () => context.bouncerKeys.choose({ fetchKeyList: () => context.api.getBouncerKeys() });
  let key = await chooseKey();
  // Skipped while the clocks disagree, because a wrong clock could destroy keys that are still needed.
  if (followedTime(context, key).clocksAgree) account = await destroyUnusedKeys(context, account);

  for (let registrations = 0; ; ) {
    const time = followedTime(context, key);
    const reason = nextReason({ run, account, known, key, time, registrations });
    if (reason !== undefined) {
      if (key.source === 'none') return noUsableKey(account, key);
      const isRepeat = reason === 'failed' || reason === 'key-refused';
      const repeats = isRepeat ? countRepeat(account.registration, known?.errorCode, time.device) : {};
      if (isKeyPairLost(account, known) || isLockedOut({ account, known, time, registrations })) {
        account = await replaceAccount(context, account);
        watch = watchOf(account);
      }
      const timestamp = dateAfter(account.registration, time, registrations > 0);
      account = await register(context, { account, run, key, reason, timestamp, repeats });
      registrations += 1;
      known = { status: 'pending' };
    } else {
      if (known?.status === 'pending') known = await watch.nextState();
      else return statusOf({ context, account, known, key, time });
      if (known.status === 'pending') return statusOf({ context, account, known, key, time });
      if (isKeyRefusal(known.errorCode)) key = await chooseKey();
    }
  }
}

/**
 * Returns whether the relay refuses all further registrations of this account, because the relay has seen a higher
 * sequence number. Either another party presented that number, or the phone sealed it while its own clock was ahead. A
 * server's clock cannot cause this: the last attempt was dated by the later of the two clocks, and a server can move
 * the phone's time only within bounds.
 */
function isLockedOut({ account, known, time, registrations }: LastTry): boolean {
  const isExpired = known?.status === 'failed' && known.errorCode === 'REQUEST_EXPIRED';
  if (registrations === mostRegistrationsOfOneSync - 1 && isExpired) return true;
  const nextSequence = (account.sequence ?? 0) + 1;
  return time.isServerTime && Math.floor(nextSequence / 1000) > Math.floor(time.latest / 1000);
}

/**
 * Creates a new push account for the same user. Sequence numbers that were presented for the old account do not affect
 * the new account. The new account takes over the push keys, to open pushes in flight, and the records of notifications
 * opened with those keys.
 */
async function replaceAccount(context: RegistrarContext, account: PushAccount): Promise<PushAccount> {
  const { accounts, identity, seen } = context;
  const { pushAccountId, device } = account;
  const made = await makePushAccount(accounts, identity, context);
  await seen.copy(pushAccountId, made.pushAccountId);
  await accounts.remove(pushAccountId);
  const created = await accounts.addIfAbsent(made);
  if (device === undefined) return created;
  if (created.pushAccountId !== made.pushAccountId)
    await seen.copy(made.pushAccountId, created.pushAccountId);
  const replaced = { ...created, device };
  await accounts.put(replaced);
  return replaced;
}

interface LastTry {
  readonly account: PushAccount;
  readonly known: PushDeviceState | undefined;
  readonly time: FollowedTime;
  /** Number of registrations that this sync has sent. */
  readonly registrations: number;
}

interface Step extends LastTry {
  readonly run: SyncRun;
  readonly key: BouncerKeyChoice | NoBouncerKey;
}

function nextReason({ run, account, known, key, time, registrations }: Step): ReasonToRegister | undefined {
  if (registrations >= mostRegistrationsOfOneSync) return undefined;
  const failedJustNow = registrations > 0 && known?.status === 'failed';
  if (failedJustNow && !canRepeatAtOnce(known.errorCode, time.isServerTime)) return undefined;
  return reasonToRegister({
    sent: account.registration,
    known,
    pushToken: run.pushToken,
    key: key.source === 'none' ? undefined : key,
    now: Math.floor(time.now / 1000),
    deviceNow: time.device,
    // No backoff within a sync, because the number of registrations per sync is bounded.
    retryNow: run.retryNow || registrations > 0,
  });
}

interface RegisterTask {
  readonly account: PushAccount;
  readonly run: SyncRun;
  readonly key: BouncerKeyChoice;
  readonly reason: ReasonToRegister;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly repeats: Pick<SentRegistration, 'repeats'>;
}

async function register(
  { api, sodium, accounts }: RegistrarContext,
  { account: before, run, key, reason, timestamp, repeats }: RegisterTask,
): Promise<PushAccount> {
  const { pushToken, queue } = run;
  const sequence = Math.max((before.sequence ?? 0) + 1, timestamp * 1000);
  const binding = { audience: queue.realmUuid, pushAccountId: before.pushAccountId, sequence };
  const registration = buildRegistration(pushToken, { timestamp, ...binding });
  const account: PushAccount = { ...before, sequence };
  // Stores the sequence number before sending it. If it were reused after a crash, the order of the two registrations
  // would be undefined.
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
  const sent = { pushToken, bouncerPublicKey: key.publicKey, timestamp, ...realmOf(queue), ...repeats };
  const registered: PushAccount = {
    ...account,
    registration: repeatedForSequence === undefined ? sent : { ...sent, repeatedForSequence },
  };
  await accounts.put(registered);
  return registered;
}

interface Ending extends Pick<Step, 'account' | 'known' | 'key' | 'time'> {
  readonly context: RegistrarContext;
}

function statusOf({ known, ...ending }: Ending): RegistrationStatus {
  const verdict = known?.status ?? 'failed';
  const sent = ending.account.registration;
  return settledStatus({ ...ending, verdict, sent, errorCode: known?.errorCode });
}
