import type { ForgottenAccount } from '../accounts/forgotten-account.js';
import type { PushAccount } from '../accounts/push-account.js';
import { createSharedRun } from '../mutex.js';
import { generations } from './choose-generation.js';
import { halfForgotten, type NotifyForgottenContext, notifyForgotten } from './notify-forgotten.js';
import { sealRevocations } from './seal-revocations.js';

type SignIn = Pick<ForgottenAccount, 'realmUrl' | 'email' | 'apiKey'>;

/** Operations that sign accounts out, on this phone and on their servers. */
export interface SignOuts {
  /** Deletes the rows of one account. Returns the sign-outs to send to servers. Requires the account's lock. */
  forget(rows: readonly PushAccount[], signIn: SignIn): Promise<readonly ForgottenAccount[]>;
  /** Deletes the rows whose sign-out was interrupted. Requires the account's lock. */
  finish(rows: readonly PushAccount[]): Promise<void>;
  /** Notifies the servers of pending sign-outs, and of `more`. */
  notify(more?: readonly ForgottenAccount[]): Promise<void>;
  /** Like `notify`, in the background and single-flight. Failures stay in the store for the next run. */
  notifyConcurrently(): void;
}

export function createSignOuts(context: NotifyForgottenContext): SignOuts {
  const { accounts, forgotten, clock, sodium } = context;
  const notify = (more?: readonly ForgottenAccount[]) => notifyForgotten(context, more);
  return {
    async forget(rows, signIn) {
      const toNotify: ForgottenAccount[] = [];
      const ids = new Set(rows.map(({ pushAccountId }) => pushAccountId));
      const others = (await accounts.list()).filter(({ pushAccountId }) => !ids.has(pushAccountId));
      for (const row of rows) {
        const { pushAccountId } = row;
        const deviceId = row.device?.deviceId;
        // Stores the sign-out before deleting the row, so the server is still notified if the app exits in between.
        if (generations.some((generation) => generation.mayBeKnown(row))) {
          const device = deviceId === undefined ? {} : { deviceId };
          const now = clock();
          const revocations = sealRevocations(sodium, { account: row, others, now });
          const sealed = revocations.length === 0 ? {} : { revocations };
          const account = { ...signIn, ...device, ...sealed, pushAccountId, forgottenAt: now };
          toNotify.push(account);
          await forgotten.put(account);
        }
        await accounts.remove(pushAccountId);
      }
      return toNotify;
    },
    async finish(rows) {
      const half = halfForgotten(rows, await forgotten.list());
      for (const { pushAccountId } of half) await accounts.remove(pushAccountId);
    },
    notify,
    notifyConcurrently: createSharedRun(notify),
  };
}
