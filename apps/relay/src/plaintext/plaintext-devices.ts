import type { RelayDeviceId, TokenKind } from '@waxwing/protocol';
import type { Log } from '@waxwing/service/logging';
import type { UserAddressee } from '../registrations/store/addressee.js';
import { bindingOfToken, type TokenVault } from '../registrations/store/token-vault.js';
import type { Realm } from '../servers/find-realm.js';
import type { RealmId } from '../servers/server-tables.js';
import type { RelayDatabase } from '../tables.js';
import type { PlaintextToken, PlaintextUser } from './read-plaintext.js';

export interface PlaintextDevicesOptions {
  readonly database: RelayDatabase;
  readonly tokenVault: TokenVault;
  readonly log: Log;
  /** Value of `RELAY_PLAINTEXT_DEVICES`. */
  readonly isOn: boolean;
}

/** A device that can receive plaintext notifications. */
export interface PlaintextDevice {
  readonly id: RelayDeviceId;
  readonly realmId: RealmId;
  readonly realmUuid: string;
  readonly addressee: UserAddressee;
  readonly kind: TokenKind;
  readonly tokenLookup: string;
}

interface NewDevice {
  readonly realm: Realm;
  readonly user: PlaintextUser;
  readonly token: PlaintextToken;
  readonly iosAppId: string | undefined;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Maximum number of devices per user to which the relay delivers. The most recent devices take precedence. */
const maximumDevicesPerUser = 100;

/**
 * Stores devices that registered without encryption. Each device is a row of `relay_devices`: its token is encrypted at
 * rest and can expire, and the row is deleted with its server. While the setting is off, devices can be removed but
 * receive no notifications.
 */
export class PlaintextDevices {
  readonly isOn: boolean;
  readonly #database: RelayDatabase;
  readonly #vault: TokenVault;

  constructor({ database, tokenVault, log, isOn }: PlaintextDevicesOptions) {
    this.isOn = isOn;
    this.#database = database;
    this.#vault = tokenVault;
    if (isOn) {
      log.warn(
        'RELAY_PLAINTEXT_DEVICES is on: this relay, Google and Apple can read the notifications of servers that do not encrypt',
      );
    }
  }

  /** Upserts a device. Deletes other rows of the same token and user, such as rows under another name of the user. */
  async register({ realm: { realmId }, user, token, iosAppId, now }: NewDevice): Promise<void> {
    const [lookup, ...olderLookups] = this.#vault.lookups(token.token);
    const key = { realm_id: realmId, push_account_id: user.name, token_lookup: lookup };
    const values = {
      token_kind: token.kind,
      token: this.#vault.seal(token.token, bindingOfToken(key)),
      ios_app_id: iosAppId ?? null,
      apns_environment: token.kind === 'apns' ? 'production' : null,
      registered_at: now,
      dated_at: null,
      expired_at: null,
    };
    await this.#database.write(async ({ db }) => {
      await db
        .deleteFrom('relay_devices')
        .where('realm_id', '=', realmId)
        .where('push_account_id', 'in', user.names)
        .where('token_lookup', 'in', [lookup, ...olderLookups])
        .where(({ not, and }) => not(and({ push_account_id: user.name, token_lookup: lookup })))
        .execute();
      await db
        .insertInto('relay_devices')
        .values({ ...key, ...values })
        .onConflict((conflict) =>
          conflict.columns(['realm_id', 'push_account_id', 'token_lookup']).doUpdateSet(values),
        )
        .execute();
    });
  }

  /** Removes a user's device with this token, or all of the user's devices. Returns whether it removed any. */
  async remove(serverId: string, { names }: PlaintextUser, token?: PlaintextToken): Promise<boolean> {
    const lookups = token === undefined ? undefined : this.#vault.lookups(token.token);
    const { numDeletedRows } = await this.#database.write(({ db }) =>
      db
        .deleteFrom('relay_devices')
        .where('realm_id', 'in', (is) =>
          is.selectFrom('realms').select('realms.id').where('realms.server_id', '=', serverId),
        )
        .where('push_account_id', 'in', names)
        .$if(lookups !== undefined, (all) => all.where('token_lookup', 'in', lookups ?? []))
        .$if(token !== undefined, (all) => all.where('token_kind', '=', token?.kind ?? ''))
        .executeTakeFirstOrThrow(),
    );
    return numDeletedRows > 0n;
  }

  /** Returns the user's devices with valid tokens, latest first, at most 100. */
  async find(serverId: string, { names }: PlaintextUser): Promise<PlaintextDevice[]> {
    const rows = await this.#database.db
      .selectFrom('relay_devices')
      .innerJoin('realms', 'realms.id', 'relay_devices.realm_id')
      .select([
        'relay_devices.id',
        'relay_devices.realm_id',
        'relay_devices.push_account_id',
        'relay_devices.token_kind',
        'relay_devices.token_lookup',
        'realms.uuid',
      ])
      .where('realms.server_id', '=', serverId)
      .where('relay_devices.push_account_id', 'in', names)
      .where('relay_devices.expired_at', 'is', null)
      .orderBy('relay_devices.id', 'desc')
      .limit(maximumDevicesPerUser)
      .execute();
    return rows.map((row) => ({
      id: row.id,
      realmId: row.realm_id,
      realmUuid: row.uuid,
      addressee: row.push_account_id as UserAddressee,
      kind: row.token_kind as TokenKind,
      tokenLookup: row.token_lookup,
    }));
  }

  /** Returns the device in `devices` that has this token; `undefined` if there is none. */
  withToken(
    devices: readonly PlaintextDevice[],
    { kind, token }: PlaintextToken,
  ): PlaintextDevice | undefined {
    const lookups = this.#vault.lookups(token);
    return devices.find((device) => device.kind === kind && lookups.includes(device.tokenLookup));
  }
}
