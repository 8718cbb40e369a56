import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { keyListPath } from '@waxwing/protocol';
import { openAccount, type PushCheck } from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { adminNames } from '#server/push/admin-names.js';
import { makeTlsIdentity } from '#vendors/credentials/make-certificate.js';
import { type RelayReaction, RelayStandIn, refused } from '../../support/relay-stand-in.js';
import { PushWorld, type WorldUser } from './push-world.js';

type Settings = Readonly<Record<string, string>>;

/** A broken set-up, and the diagnosis that `push status` must print. */
export interface Broken {
  /**
   * Breaks something. Returns settings for `push status` that are added to the account's settings. `none` means to use
   * only the account that `push enable` has stored.
   */
  readonly breaks: (w: BrokenWorld) => Promise<Settings | 'none'> | Settings | 'none';
  readonly mends?: (w: BrokenWorld) => Promise<unknown> | unknown;
  readonly check: string;
  readonly cause: RegExp;
  readonly remedy: RegExp;
}

/** A push world, with methods to break it. */
export class BrokenWorld {
  readonly world: PushWorld;
  readonly ada: WorldUser;
  readonly standIn: RelayStandIn;
  /** The account's settings, as environment variables. */
  account: Settings = {};
  serverKey = '';
  /** Content of the key file that encrypts the stored account. */
  ownKey = '';
  readonly #listeners: TcpServer[] = [];

  private constructor(world: PushWorld, ada: WorldUser, standIn: RelayStandIn) {
    this.world = world;
    this.ada = ada;
    this.standIn = standIn;
  }

  static async create(): Promise<BrokenWorld> {
    const world = await PushWorld.create();
    return new BrokenWorld(world, await world.addUser('ada'), await RelayStandIn.start());
  }

  /** Joins the relay with `push enable`. */
  async join(): Promise<void> {
    const { world } = this;
    await world.runJson(['push', 'enable', '--relay', world.relayUrl, '--invitation', await world.invite()]);
    const { db } = world.server.database;
    const row = await db.selectFrom('relay_accounts').selectAll().executeTakeFirstOrThrow();
    this.ownKey = readFileSync(this.ownKeyFile(), 'utf8');
    const secretKey = new Secret(new Uint8Array(Buffer.from(this.ownKey.trim(), 'hex')));
    this.serverKey = openAccount({ secretKey, network: {}, names: adminNames }, row).serverKey.reveal();
    this.account = {
      SERVER_RELAY_URL: world.relayUrl,
      SERVER_RELAY_SERVER_ID: row.server_id,
      SERVER_RELAY_SERVER_KEY_FILE: this.file('server.key', this.serverKey),
    };
  }

  /**
   * Runs `push status` in a broken set-up, and repairs the set-up. Returns the exit code and the check that failed,
   * which must be the expected one.
   */
  async diagnose({ breaks, mends, check }: Broken): Promise<{ code: number; found: PushCheck }> {
    try {
      const settings = await breaks(this);
      const { code, checks } = await this.world.status(
        settings === 'none' ? {} : { ...this.account, ...settings },
      );
      const found = checks.find((each) => each.check === check && !each.ok);
      if (found === undefined) throw new Error(`${check} did not fail: ${JSON.stringify(checks)}`);
      return { code, found };
    } finally {
      await mends?.(this);
    }
  }

  serverId(): string {
    return String(this.account.SERVER_RELAY_SERVER_ID);
  }

  ownKeyFile(): string {
    return join(this.world.dir, 'waxwing-server.key');
  }

  /** Writes a private file. */
  file(name: string, content: string, mode = 0o600): string {
    const path = join(this.world.dir, name);
    writeFileSync(path, content, { mode });
    chmodSync(path, mode);
    return path;
  }

  /** A TLS listener with a certificate for `name` from a new authority. */
  async tlsRelay(name: string): Promise<{ SERVER_RELAY_URL: string; ca: string }> {
    const { certificate, privateKey, ca } = await makeTlsIdentity([name]);
    const server = createTlsServer({ cert: certificate, key: privateKey }, (socket) => socket.end());
    server.on('tlsClientError', () => undefined);
    this.#listeners.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return { SERVER_RELAY_URL: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca };
  }

  /** Settings for a relay that responds to the probe and to the key list request as scripted. */
  answering(probe: RelayReaction, keyList: RelayReaction = refused(404, 'NOT_FOUND')): Settings {
    this.standIn.otherwise(({ path }) => {
      if (path === keyListPath) return keyList;
      return path.endsWith('/apps') ? { status: 404 } : probe;
    });
    return { SERVER_RELAY_URL: this.standIn.url };
  }

  async keyListOfRelay(): Promise<Record<string, unknown>> {
    return (await (await fetch(this.world.relayUrl + keyListPath)).json()) as Record<string, unknown>;
  }

  /** Adds another server to the relay. Returns the settings of its account. */
  async otherServer(): Promise<Settings> {
    const realm = '3b0c6f0f-6ad1-4ad3-9d0e-62ff3b2b1c11';
    const added = await this.world.operateJson<{ server_id: string; server_key: string }>([
      ...['servers', 'add', '--realm', realm],
    ]);
    return {
      SERVER_RELAY_SERVER_ID: added.server_id,
      SERVER_RELAY_SERVER_KEY_FILE: this.file('other-server.key', added.server_key),
    };
  }

  async dropAll(jobs: readonly { readonly id: string }[]): Promise<void> {
    for (const { id } of jobs) await this.world.server.database.jobs.drop(id);
  }

  /** Gives the relay credentials for these vendors only. */
  async reloadApps(vendors: readonly ('fcm' | 'apns')[]): Promise<Settings> {
    this.world.writeApps(vendors);
    await this.world.relay.context.deliveries.reloadCredentials();
    return {};
  }

  /** Replaces the pinned signing key. */
  async pin(key: string): Promise<void> {
    await this.world.server.database.write(({ db }) =>
      db.updateTable('relay_accounts').set({ signing_public_key: key }).execute(),
    );
  }

  /** Makes a vendor reject the credentials at their next test, on a relay that has not used them yet. */
  async refusedBy(rule: object): Promise<void> {
    const { world, ada } = this;
    await world.stopRelay();
    await world.startRelay();
    await world.faults([rule]);
    await world.run(['push', 'test', '--user', ada.email, '--wait', '0']);
    await world.faults([]);
  }

  async close(): Promise<void> {
    for (const listener of this.#listeners) listener.close();
    await this.standIn.close();
    await this.world.close();
  }
}
