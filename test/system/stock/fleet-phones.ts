import { askByHttp, askStockServer } from './ask-servers.js';
import { OlderApp } from './older-app.js';
import { StockApp } from './stock-app.js';
import { newPhone } from './stock-devices-of.js';
import type { StockPhone } from './stock-phone.js';
import type { StockServer, StockUser } from './stock-server.js';
import type { StockWorld, WorldUser } from './stock-world.js';

/** Actions of a phone, the same for both generations and both servers. */
interface FleetApp {
  readonly phone: StockPhone;
  readonly shown: ReadonlyMap<number, number>;
  readonly isPending: boolean;
  readonly isFailed: boolean;
  readonly isSettled: boolean;
  /** Opens the app. The app registers if anything has changed. */
  start(): Promise<void>;
  /** Updates the app's view of its registration state. */
  look(): Promise<void>;
  rotateKey(): void;
  signIn(): Promise<void>;
  logOut(): Promise<void>;
  /** Returns whether the account can decrypt the notification. */
  receive(body: Readonly<Record<string, unknown>>): boolean;
}

/** An account on a phone. Accounts on the same phone have the same `app.phone`. */
export interface FleetAccount {
  readonly app: FleetApp;
  readonly user: FleetUser;
  readonly server: 'ours' | 'stock';
  isSignedIn: boolean;
  /** Incremented by every token change and every logout. Messages from earlier epochs need not arrive. */
  epoch: number;
}

/** A user of one of the servers. */
export interface FleetUser {
  readonly accounts: FleetAccount[];
  /** Sends the user a message. Returns the message id. */
  notify(): Promise<number>;
}

let messages = 0;

/**
 * Creates users of our server, each with one phone of each generation. Every second user also has an account on the
 * previous user's phones.
 */
export async function usersOfOurs(world: StockWorld, sender: WorldUser, count: number): Promise<FleetUser[]> {
  const ask = askByHttp(world.serverUrl);
  const added: FleetUser[] = [];
  let phones: { readonly older: StockPhone; readonly newer: StockPhone } | undefined;
  for (let index = 0; index < count; index += 1) {
    const account = await world.addUser(`user${index}`);
    const user: FleetUser = { accounts: [], notify: () => world.sendMessage(sender, account) };
    const authorization = `Basic ${btoa(`${account.email}:${account.apiKey}`)}`;
    const addTo = ({ older, newer }: NonNullable<typeof phones>) => {
      const newerOne = new StockApp({ ask, phone: newer, realmUrl: world.serverUrl });
      user.accounts.push(fleetAccount('ours', user, new OlderApp({ ask, phone: older, authorization })));
      user.accounts.push(fleetAccount('ours', user, newerApp(newerOne, account.email, account.password)));
    };
    if (phones !== undefined && index % 2 === 1) addTo(phones);
    const kinds = index % 2 === 0 ? (['fcm', 'apns'] as const) : (['apns', 'fcm'] as const);
    phones = { older: await newPhone(world, kinds[0]), newer: await newPhone(world, kinds[1]) };
    addTo(phones);
    added.push(user);
  }
  return added;
}

/**
 * Creates users of a stock server, each with two phones. Every second user also has an account on one of the previous
 * user's phones.
 */
export async function usersOfStock(
  world: StockWorld,
  server: StockServer,
  count: number,
): Promise<FleetUser[]> {
  const added: FleetUser[] = [];
  let former: StockPhone | undefined;
  for (let userId = 1; userId <= count; userId += 1) {
    const account: StockUser = {
      userId,
      uuid: `00000000-0000-4000-8000-${String(userId).padStart(12, '0')}`,
    };
    const notify = async () => {
      messages += 1;
      server.notify(account, { type: 'message', message_id: messages, content: 'hello' });
      return messages;
    };
    const user: FleetUser = { accounts: [], notify };
    const own = [await newPhone(world, 'fcm'), await newPhone(world, 'apns')];
    const shared = former !== undefined && userId % 2 === 0 ? [former] : [];
    former = own[0];
    for (const phone of [...shared, ...own]) {
      const app = new StockApp({ ask: askStockServer(server, account), phone, realmUrl: server.realm.url });
      user.accounts.push(fleetAccount('stock', user, newerApp(app, 'user@example.com', 'password')));
    }
    added.push(user);
  }
  return added;
}

function fleetAccount(server: FleetAccount['server'], user: FleetUser, app: FleetApp): FleetAccount {
  return { app, user, server, isSignedIn: false, epoch: 0 };
}

function newerApp(app: StockApp, username: string, password: string): FleetApp {
  return {
    phone: app.phone,
    shown: app.shown,
    get isPending() {
      return app.isPending;
    },
    get isFailed() {
      return app.isFailed;
    },
    get isSettled() {
      return app.isSettled;
    },
    start: () => app.start(),
    look: () => app.poll(),
    rotateKey: () => app.ageKey(),
    async signIn() {
      await app.signIn(username, password);
      await app.start();
    },
    logOut: () => app.logOut(),
    receive: (body) => app.receive(body) !== 'dropped',
  };
}
