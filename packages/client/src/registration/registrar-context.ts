import type { Sodium } from '@waxwing/sodium';
import type { Random } from '../accounts/create-push-account.js';
import type { ForgottenAccountStore } from '../accounts/forgotten-account.js';
import type { AccountIdentity } from '../accounts/push-account.js';
import type { PushAccountStore } from '../accounts/push-account-store.js';
import type { ChatApi } from '../chat-api/chat-api.js';
import type { BouncerKeyChooser } from '../key-list/bouncer-key-choice.js';
import type { SeenNotifications } from '../notifications/seen-notifications.js';
import type { PushToken } from '../push-token.js';
import type { PhoneClock } from '../server-clock.js';

/** Dependencies of a registrar: the phone's services, and one account's connection to its server. */
export interface RegistrarContext {
  readonly sodium: Sodium;
  readonly random: Random;
  readonly clock: PhoneClock;
  readonly accounts: Required<PushAccountStore>;
  readonly seen: Pick<SeenNotifications, 'copy'>;
  readonly forgotten: ForgottenAccountStore;
  readonly bouncerKeys: BouncerKeyChooser;
  readonly pushToken: () => PushToken | undefined | Promise<PushToken | undefined>;
  readonly identity: AccountIdentity;
  readonly api: ChatApi;
}
