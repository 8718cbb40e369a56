import type { ForwardedRegistration, ForwardedTokenRegistration } from '@waxwing/protocol';
import type { Dispatcher } from 'undici';
import { tokenFormat } from './client-devices/token-format.js';
import { KeyListCache } from './key-list/key-list-cache.js';
import type { DeliveryResults } from './notifications/delivery-results.js';
import { GroupedReceipts } from './notifications/grouped-receipts.js';
import { NotificationSender } from './notifications/notification-sender.js';
import { pushAccountFormat, type RegisteredRelayDevice } from './push-devices/push-account-format.js';
import type { SameToken } from './registrations/same-token.js';
import { GroupedRegistrations } from './relay-link/grouped-registrations.js';
import type { LinkMonitor } from './relay-link/link-monitor.js';
import { openDispatcher } from './relay-link/open-dispatcher.js';
import type { RealmPushStatusRecord } from './relay-link/realm-push-status.js';
import { RelayLink } from './relay-link/relay-link.js';
import type { RelayAccount, RelayNetwork, ServerPushOptions } from './server-push-options.js';

/** The connection to one relay, and the sender, batchers and cache that use it. */
export interface RelayConnection {
  readonly link: RelayLink;
  readonly sender: NotificationSender;
  readonly receipts: GroupedReceipts;
  readonly keyList: KeyListCache;
  readonly registrations: GroupedRegistrations<ForwardedRegistration, RegisteredRelayDevice>;
  readonly tokens: GroupedRegistrations<ForwardedTokenRegistration, SameToken>;
}

const defaultRelayTimeoutMilliseconds = 15_000;

/** Records of the relay's responses. They outlive a change of the relay. */
export interface RelayRecords {
  readonly monitor: LinkMonitor;
  readonly results: DeliveryResults;
  readonly pushStatus: RealmPushStatusRecord;
}

/** The currently configured relay. Commands can change it while the server runs. */
export class CurrentRelay {
  readonly #options: ServerPushOptions;
  readonly #records: RelayRecords;
  #account: RelayAccount = { kind: 'not-configured' };
  #connection: RelayConnection | undefined;
  #dispatcher: Dispatcher | undefined;
  /** Dispatchers of previous networks that still have requests in flight. */
  readonly #draining = new Set<Dispatcher>();

  constructor(options: ServerPushOptions, records: RelayRecords) {
    this.#options = options;
    this.#records = records;
    this.use(options.relay);
  }

  get kind(): RelayAccount['kind'] {
    return this.#account.kind;
  }

  /** The connection; `undefined` if the organization has no relay. */
  get connection(): RelayConnection | undefined {
    return this.#connection;
  }

  /**
   * Switches to this account, starting with the next request. Keeps the caches if only the key changes. Opens new
   * connections if the network changes, for example to trust other certificate authorities.
   */
  use(account: RelayAccount): void {
    const former = this.#account;
    this.#account = account;
    this.#records.monitor.setConfigured(account.kind === 'configured');
    if (account.kind === 'not-configured') this.#connection = undefined;
    else if (former.kind === 'not-configured' || !isSame(former, account)) {
      if (former.kind === 'configured' && !isSameNetwork(former.network, account.network)) this.#drain();
      this.#connection = this.#connect(account);
    } else this.#connection?.link.useServerKey(account.serverKey);
  }

  /** Closes the connections and aborts requests in flight. Does not close a `dispatcher` passed in the options. */
  async close(): Promise<void> {
    const own = this.#options.dispatcher === undefined ? this.#dispatcher : undefined;
    await Promise.all([own, ...this.#draining].map((dispatcher) => dispatcher?.destroy()));
  }

  /** Closes the connections once their requests have ended. */
  #drain(): void {
    const former = this.#dispatcher;
    if (former === undefined || this.#options.dispatcher !== undefined) return;
    this.#dispatcher = undefined;
    this.#draining.add(former);
    void former.close().finally(() => this.#draining.delete(former));
  }

  #connect(relay: Extract<RelayAccount, { kind: 'configured' }>): RelayConnection {
    const { clock, realm, relayTimeoutMilliseconds } = this.#options;
    this.#dispatcher ??= this.#options.dispatcher ?? openDispatcher(relay.network);
    const link = new RelayLink({
      relay,
      realmUuid: realm.uuid,
      dispatcher: this.#dispatcher,
      timeoutMilliseconds: relayTimeoutMilliseconds ?? defaultRelayTimeoutMilliseconds,
      clock,
      monitor: this.#records.monitor,
      pushStatus: this.#records.pushStatus,
    });
    return {
      link,
      sender: new NotificationSender({ ...this.#options, link, results: this.#records.results }),
      receipts: new GroupedReceipts(link),
      keyList: new KeyListCache(link, clock),
      registrations: new GroupedRegistrations(link, pushAccountFormat, clock),
      tokens: new GroupedRegistrations(link, tokenFormat, clock),
    };
  }
}

type Named = Pick<Extract<RelayAccount, { kind: 'configured' }>, 'url' | 'serverId' | 'network'>;

function isSame(one: Named, other: Named): boolean {
  return (
    one.url === other.url && one.serverId === other.serverId && isSameNetwork(one.network, other.network)
  );
}

function isSameNetwork(one: RelayNetwork = {}, other: RelayNetwork = {}): boolean {
  return one.authorities === other.authorities && one.proxyUrl?.reveal() === other.proxyUrl?.reveal();
}
