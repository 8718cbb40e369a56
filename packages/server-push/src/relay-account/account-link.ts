import type { Clock } from '@waxwing/service/lifecycle';
import { openDispatcher } from '../relay-link/open-dispatcher.js';
import { RelayLink } from '../relay-link/relay-link.js';
import type { PushRealm, RelayAccount } from '../server-push-options.js';

export type ConfiguredRelay = Extract<RelayAccount, { kind: 'configured' }>;

export interface AccountLinkOptions {
  readonly relay: ConfiguredRelay;
  readonly realm: Pick<PushRealm, 'uuid'>;
  readonly clock: Clock;
}

const timeoutMilliseconds = 15_000;

/**
 * Runs a command's work with a separate connection to the relay. Does not change the recorded state of the server's own
 * connection.
 */
export async function withAccountLink<Result>(
  { relay, realm, clock }: AccountLinkOptions,
  work: (link: RelayLink) => Promise<Result>,
): Promise<Result> {
  const dispatcher = openDispatcher(relay.network);
  const nothing = { report: async () => undefined };
  const link = new RelayLink({
    relay,
    realmUuid: realm.uuid,
    dispatcher,
    timeoutMilliseconds,
    clock,
    monitor: nothing,
    pushStatus: nothing,
  });
  try {
    return await work(link);
  } finally {
    await dispatcher.destroy();
  }
}
