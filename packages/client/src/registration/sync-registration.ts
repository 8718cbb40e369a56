import { encodeBase64, formatPushAccountId } from '@waxwing/protocol/phone';
import { createPushAccount } from '../accounts/create-push-account.js';
import { isSameAccount, type PushAccount } from '../accounts/push-account.js';
import { buildRegistration, type PushToken } from '../build-registration.js';
import { ApiError, UnreachableError } from '../chat-api/api-error.js';
import type { ChatApi } from '../chat-api/chat-api.js';
import type { EventQueue, PushDeviceState } from '../chat-api/event-queue.js';
import type { BouncerKeyChoice, NoBouncerKey } from '../key-list/bouncer-key-choice.js';
import { sealRegistration } from '../seal-registration.js';
import { createDeviceWatch } from './device-watch.js';
import { isKeyRefused, type ReasonToRegister, reasonToRegister } from './reason-to-register.js';
import type { RegistrarContext } from './registrar-context.js';
import { type RegistrationStatus, registrationStatus } from './registration-status.js';
import { statusCodeOf, statusOfError } from './status-of-error.js';

// One for the state that was found, one for a key that was refused, one for a clock that was wrong.
const mostRegistrationsOfOneSync = 3;

/**
 * Brings an account from any state to the right one, and tells how it stands; see `Registrar.sync`.
 * @param settleTimeoutMilliseconds how long to wait for the relay's verdict.
 */
export async function syncRegistration(
  context: RegistrarContext,
  settleTimeoutMilliseconds: number,
): Promise<RegistrationStatus> {
  const pushToken = await context.pushToken();
  if (pushToken === undefined) return registrationStatus('no-token');
  try {
    const queue = await context.api.registerEventQueue(['push_device']);
    const deadline = context.clock() + settleTimeoutMilliseconds;
    const status = await bringUpToDate(context, { pushToken, queue, deadline });
    await deleteQueue(context.api, queue.queueId);
    return status;
  } catch (error) {
    return statusOfError(error);
  }
}

interface SyncRun {
  readonly pushToken: PushToken;
  readonly queue: EventQueue;
  /** In Unix milliseconds by the device's clock. */
  readonly deadline: number;
}

async function bringUpToDate(context: RegistrarContext, run: SyncRun): Promise<RegistrationStatus> {
  let account = await findOrCreateAccount(context);
  const { pushAccountId } = account;
  const watch = createDeviceWatch({ ...context, ...run, pushAccountId });
  let known = run.queue.pushDevices.get(formatPushAccountId(pushAccountId));

  let key = await context.bouncerKeys.choose(keyListOrigin(context.api));

  for (let registrations = 0; ; ) {
    const reason = nextReason({ context, run, account, known, key, registrations });
    if (reason !== undefined) {
      if (key.source === 'none') {
        return registrationStatus('no-usable-key', { warning: key.warning, pushAccountId });
      }
      account = await register(context, { account, run, key, reason });
      registrations += 1;
      known = { status: 'pending' };
    } else {
      if (known?.status !== 'pending') return statusOf(known, key, account);
      known = await watch.nextState();
      if (known.status === 'pending') return statusOf(known, key, account);
      if (isKeyRefused(known)) key = await context.bouncerKeys.choose(keyListOrigin(context.api));
    }
  }
}

async function findOrCreateAccount(context: RegistrarContext): Promise<PushAccount> {
  const { accounts, identity } = context;
  const existing = (await accounts.list()).find((account) => isSameAccount(account, identity));
  return existing ?? createPushAccount(accounts, identity, context);
}

function keyListOrigin(api: ChatApi) {
  return { fetchKeyList: () => api.getBouncerKeys(), serverNow: () => api.serverClock.now() };
}

interface Step {
  readonly context: RegistrarContext;
  readonly run: SyncRun;
  readonly account: PushAccount;
  readonly known: PushDeviceState | undefined;
  readonly key: BouncerKeyChoice | NoBouncerKey;
  readonly registrations: number;
}

function nextReason({
  context,
  run,
  account,
  known,
  key,
  registrations,
}: Step): ReasonToRegister | undefined {
  if (registrations >= mostRegistrationsOfOneSync) return undefined;
  // Of what this very sync has sent, only these two fail for a reason that is gone at the next try.
  const failedJustNow = registrations > 0 && known?.status === 'failed';
  if (failedJustNow && !isKeyRefused(known) && known.errorCode !== 'REQUEST_EXPIRED') return undefined;
  return reasonToRegister({
    sent: account.registration,
    known,
    pushToken: run.pushToken,
    key: key.source === 'none' ? undefined : key,
    now: unixSeconds(context.api),
  });
}

interface RegisterTask {
  readonly account: PushAccount;
  readonly run: SyncRun;
  readonly key: BouncerKeyChoice;
  readonly reason: ReasonToRegister;
}

async function register(
  { api, sodium, accounts }: RegistrarContext,
  { account, run, key, reason }: RegisterTask,
): Promise<PushAccount> {
  const { pushToken, queue } = run;
  const timestamp = unixSeconds(api);
  const registration = buildRegistration(pushToken, { timestamp, audience: queue.realmUuid });
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

function statusOf(
  known: PushDeviceState | undefined,
  key: BouncerKeyChoice | NoBouncerKey,
  { pushAccountId }: PushAccount,
): RegistrationStatus {
  const code =
    known === undefined || known.status === 'failed' ? statusCodeOf(known?.errorCode) : known.status;
  return registrationStatus(code, {
    pushAccountId,
    errorCode: known?.errorCode,
    keySource: key.source === 'none' ? undefined : key.source,
    warning: key.warning,
  });
}

async function deleteQueue(api: ChatApi, queueId: string): Promise<void> {
  try {
    await api.deleteEventQueue(queueId);
  } catch (error) {
    // The registration stands, and the server forgets idle queues by itself.
    if (!(error instanceof ApiError || error instanceof UnreachableError)) throw error;
  }
}

function unixSeconds(api: ChatApi): number {
  return Math.floor(api.serverClock.now() / 1000);
}
