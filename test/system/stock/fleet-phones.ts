import { askByHttp, askStockServer } from './ask-servers.js';
import { OlderApp } from './older-app.js';
import { StockApp } from './stock-app.js';
import { newPhone } from './stock-devices-of.js';
import type { StockPhone } from './stock-phone.js';
import type { StockServer, StockUser } from './stock-server.js';
import type { StockWorld, WorldUser } from './stock-world.js';

/** What phones of both generations do, at either server. */
interface FleetApp {
  readonly phone: StockPhone;
  readonly shown: ReadonlyMap<number, number>;
  readonly isPending: boolean;
  readonly isFailed: boolean;
  readonly isSettled: boolean;
  /** Opens the app, which registers if something changed. */
  start(): Promise<void>;
  /** Reads the state. */
  look(): Promise<void>;
  rotateKey(): void;
  signIn(): Promise<void>;
  logOut(): Promise<void>;
  receive(body: Readonly<Record<string, unknown>>): void;
}

export interface FleetPhone {
  readonly app: FleetApp;
  readonly user: FleetUser;
  readonly server: 'ours' | 'stock';
  isSignedIn: boolean;
  /** Grows with each change of token and each logout: later a message may not arrive. */
  epoch: number;
}

/** A user of one of the servers. */
export interface FleetUser {
  readonly phones: FleetPhone[];
  /** Sends the user a message. Returns its id. */
  notify(): Promise<number>;
}

let messages = 0;

/** Users of our server, each with a phone of either generation. */
export async function usersOfOurs(world: StockWorld, sender: WorldUser, count: number): Promise<FleetUser[]> {
  const ask = askByHttp(world.serverUrl);
  const added: FleetUser[] = [];
  for (let index = 0; index < count; index += 1) {
    const account = await world.addUser(`user${index}`);
    const user: FleetUser = { phones: [], notify: () => world.sendMessage(sender, account) };
    const authorization = `Basic ${btoa(`${account.email}:${account.apiKey}`)}`;
    const kinds = index % 2 === 0 ? (['fcm', 'apns'] as const) : (['apns', 'fcm'] as const);
    const older = new OlderApp({ ask, phone: await newPhone(world, kinds[0]), authorization });
    const phone = await newPhone(world, kinds[1]);
    const newer = new StockApp({ ask, phone, realmUrl: world.serverUrl });
    user.phones.push(fleetPhone('ours', user, older));
    user.phones.push(fleetPhone('ours', user, newerApp(newer, account.email, account.password)));
    added.push(user);
  }
  return added;
}

/** Users of a stock server, each with two phones. */
export async function usersOfStock(
  world: StockWorld,
  server: StockServer,
  count: number,
): Promise<FleetUser[]> {
  const added: FleetUser[] = [];
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
    const user: FleetUser = { phones: [], notify };
    for (const kind of ['fcm', 'apns'] as const) {
      const phone = await newPhone(world, kind);
      const app = new StockApp({ ask: askStockServer(server, account), phone, realmUrl: server.realm.url });
      user.phones.push(fleetPhone('stock', user, newerApp(app, 'user@example.com', 'password')));
    }
    added.push(user);
  }
  return added;
}

function fleetPhone(server: FleetPhone['server'], user: FleetUser, app: FleetApp): FleetPhone {
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
    receive: (body) => void app.receive(body),
  };
}
