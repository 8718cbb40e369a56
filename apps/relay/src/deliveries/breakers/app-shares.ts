import type { EncryptedNotification } from '../delivery.js';
import { scopeKey } from './breaker-store.js';
import { DeathShare } from './death-share.js';
import { smallLruMap } from './small-lru-map.js';

/** A subset of an app's notifications whose deletions can be frozen separately. */
export interface Scope {
  readonly app: string;
  /** `realm <uuid>`, `server <uuid>`, or empty for the whole app. */
  readonly scope: string;
  readonly share: DeathShare;
  /**
   * The notification's realm within a server, or its server within the app; `undefined` for the scope of a realm. A
   * single cause must not freeze the scope.
   */
  readonly cause: string | undefined;
  /** See {@link scopeKey}. */
  readonly key: string;
}

const maximumRealms = 10_000;

/** Recent outcomes of one app: per realm, per server and in total. */
export class AppShares {
  readonly #app: string;
  readonly #isFrozen: (key: string) => boolean;
  /** Scopes per realm, cached because every notification needs them. */
  readonly #scopesOfRealms = smallLruMap<string, readonly Scope[]>(maximumRealms, (realmUuid) =>
    this.#shares.delete(`realm ${realmUuid}`),
  );
  readonly #shares = new Map([['', new DeathShare()]]);

  constructor(app: string, isFrozen: (key: string) => boolean) {
    this.#app = app;
    this.#isFrozen = isFrozen;
  }

  /** Returns the scopes of a notification: its realm, its server, the app. */
  scopesOf({ realmUuid, serverId }: EncryptedNotification): readonly Scope[] {
    // `get` rather than `peek`, to mark the entry as used: short-lived realms must not evict a busy realm.
    const known = this.#scopesOfRealms.get(realmUuid);
    if (known !== undefined) return known;
    const [realm, server] = [`realm ${realmUuid}`, `server ${serverId}`];
    const scopes = [
      this.#scope(realm, undefined),
      this.#scope(server, realm),
      this.#scope('', server),
    ] as const;
    this.#scopesOfRealms.set(realmUuid, scopes);
    return scopes;
  }

  /** Returns the share of dead tokens in a scope; `undefined` if the scope had no outcomes. */
  find(scope: string): DeathShare | undefined {
    return this.#shares.get(scope);
  }

  #scope(scope: string, cause: string | undefined): Scope {
    const app = this.#app;
    const share = this.find(scope) ?? new DeathShare();
    this.#shares.set(scope, share);
    const key = scopeKey({ app, scope });
    share.isFrozen = this.#isFrozen(key);
    return { app, scope, share, cause, key };
  }
}
