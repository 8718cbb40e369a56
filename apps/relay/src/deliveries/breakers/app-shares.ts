import type { EncryptedNotification } from '../delivery.js';
import { scopeKey } from './breaker-store.js';
import { DeathShare } from './death-share.js';
import { smallLruMap } from './small-lru-map.js';

/** A part of an app's deletions that may be frozen by itself. */
export interface Scope {
  readonly app: string;
  /** `realm <uuid>`, `server <uuid>`, or empty for the whole app. */
  readonly scope: string;
  readonly share: DeathShare;
  /** Which part of it this outcome belongs to, where no part alone may make it unusual. */
  readonly cause: string | undefined;
  /** See {@link scopeKey}. */
  readonly key: string;
}

const maximumRealms = 10_000;

/** What one app's vendor said lately, by realm, by server and in all. */
export class AppShares {
  readonly #app: string;
  readonly #isFrozen: (key: string) => boolean;
  /** What is the same for every notification of a realm, made once: it is needed for each. */
  readonly #scopesOfRealms = smallLruMap<string, readonly Scope[]>(maximumRealms, (realmUuid) =>
    this.#shares.delete(`realm ${realmUuid}`),
  );
  readonly #shares = new Map([['', new DeathShare()]]);

  constructor(app: string, isFrozen: (key: string) => boolean) {
    this.#app = app;
    this.#isFrozen = isFrozen;
  }

  /** The scopes that a notification belongs to: its realm, its server, the app. */
  scopesOf({ realmUuid, serverId }: EncryptedNotification): readonly Scope[] {
    // Not peeked at: a realm that is heard of all the time must outlast others that come and go.
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

  /** The share of a scope that was heard of; `undefined` where nothing was. */
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
