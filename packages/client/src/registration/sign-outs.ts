import type { ForgottenAccount } from '../accounts/forgotten-account.js';
import type { PushAccount } from '../accounts/push-account.js';
import { createSharedRun } from '../one-after-another.js';
import { halfForgotten, type TellForgottenContext, tellForgotten } from './tell-forgotten.js';

type SignIn = Pick<ForgottenAccount, 'realmUrl' | 'email' | 'apiKey'>;

/** Signs accounts out on this phone and at their servers. */
export interface SignOuts {
  /** Drops the rows of one account, in its turn. */
  forget(rows: readonly PushAccount[], signIn: SignIn): Promise<void>;
  /** Drops those of the rows whose sign-out stopped half-way; in the account's turn. */
  finish(rows: readonly PushAccount[]): Promise<void>;
  /** Tells the servers what they have yet to be told. */
  tell(): Promise<void>;
  /** The same beside all else, one run at a time; what fails stays in the store for the next time. */
  tellBeside(): void;
}

export function createSignOuts(context: TellForgottenContext): SignOuts {
  const { accounts, forgotten, clock } = context;
  const tell = () => tellForgotten(context);
  return {
    async forget(rows, signIn) {
      for (const { pushAccountId, sequence, registration } of rows) {
        // Before the row goes, so that an app that ends in between still tells the server.
        const mayBeKnown = sequence !== undefined || registration !== undefined;
        if (mayBeKnown) await forgotten.put({ ...signIn, pushAccountId, forgottenAt: clock() });
        await accounts.remove(pushAccountId);
      }
    },
    async finish(rows) {
      const half = halfForgotten(rows, await forgotten.list());
      for (const { pushAccountId } of half) await accounts.remove(pushAccountId);
    },
    tell,
    tellBeside: createSharedRun(tell),
  };
}
