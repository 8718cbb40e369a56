import {
  type JsonObject,
  maximumRegistrationsAtOnce,
  parseJson,
  relayRegisterManyPath,
  relayRegisterPath,
} from '@waxwing/protocol';
import { Pool } from 'undici';
import {
  type RelayReaction,
  type RelayRequest,
  RelayStandIn,
  registered,
  registeredMany,
} from '../support/relay-stand-in.js';
import { type BenchResult, medianRates, type Rates } from './bench-result.js';
import { withBenchTarget } from './bench-target.js';
import { HttpLoad } from './http-load.js';
import { registrationForm, registrationMaker } from './server-accept.js';

const rounds = 7;
const roundMilliseconds = 1500;
const atOnce = 64;

/** A user's phone with its event queue. */
export interface BenchPhone {
  readonly queueId: string;
  readonly authorization: string;
}

/** Ready message of the servers' process. */
export interface ActiveBenchTarget {
  /** Port of the server that forwards registrations to the relay. */
  readonly forwardingPort: number;
  readonly phones: readonly BenchPhone[];
  /** Port of the server that runs no jobs. */
  readonly acceptingPort: number;
  /** `Authorization` headers of that server's users. */
  readonly users: readonly string[];
}

/**
 * `server-active`: phones that become active per second, 64 at a time, each from its request to the event on its long
 * poll. The peer is the number of registrations per second that a server in the same process accepts over as many
 * connections. The relay's stand-in responds immediately. It runs in this process, which also sends all requests.
 */
export async function run(): Promise<BenchResult[]> {
  const relay = await RelayStandIn.start({ takesMany: true });
  relay.otherwise(answerOfRelay());
  const program = new URL('./server-active-target.ts', import.meta.url);
  try {
    const rates = await withBenchTarget<ActiveBenchTarget, Rates>(program, [relay.url], async (target) => {
      const phones = new PhonesLoad(target);
      const accepting = { users: target.users };
      const nextRequest = registrationMaker(accepting);
      const load = await HttpLoad.open({ port: target.acceptingPort, connections: atOnce, nextRequest });
      await phones.run(roundMilliseconds);
      await load.run(roundMilliseconds);
      const measured = await medianRates(
        rounds,
        () => {
          relay.requests.length = 0;
          return phones.run(roundMilliseconds);
        },
        () => load.run(roundMilliseconds),
      );
      load.close();
      await phones.close();
      return measured;
    });
    return [{ name: 'server-active', unit: 'phones/s', ...rates, goal: 0.5, better: 'higher' }];
  } finally {
    await relay.close();
  }
}

/**
 * Returns a handler that accepts every request and treats each registration as a new device. The handler calls
 * `onRegistered` with the number of registrations so far.
 */
export function answerOfRelay(
  onRegistered: (registrations: number) => void = () => undefined,
): (request: RelayRequest) => RelayReaction {
  let devices = 0;
  return ({ path, body }) => {
    if (path === relayRegisterPath) {
      onRegistered(devices + 1);
      return registered(++devices);
    }
    if (path !== relayRegisterManyPath) return { status: 404 };
    const { registrations } = JSON.parse(body) as { registrations: unknown[] };
    if (registrations.length > maximumRegistrationsAtOnce) return { status: 400 };
    const results = registrations.map(() => ({ result: 'success', device_id: ++devices }));
    onRegistered(devices);
    return registeredMany(results);
  };
}

/** Load generator that registers one phone per user at a time while the user's long poll is open. */
class PhonesLoad {
  readonly #http: Pool;
  readonly #idle: { readonly phone: BenchPhone; lastEventId: number }[];

  constructor({ forwardingPort, phones }: ActiveBenchTarget) {
    this.#http = new Pool(`http://127.0.0.1:${forwardingPort}`, { connections: 2 * atOnce, pipelining: 1 });
    this.#idle = phones.map((phone) => ({ phone, lastEventId: -1 }));
  }

  /** Returns the number of activated phones per second. @throws Error for any response except success. */
  async run(milliseconds: number): Promise<number> {
    const start = performance.now();
    let active = 0;
    const work = async (): Promise<void> => {
      while (performance.now() - start < milliseconds) {
        const user = this.#idle.shift();
        if (user === undefined) throw new Error('there are fewer users than phones at once');
        const { phone, lastEventId } = user;
        const query = `queue_id=${phone.queueId}&last_event_id=${lastEventId}`;
        const [{ events: told }] = await Promise.all([
          this.#ask(phone, 'GET', `/api/v1/events?${query}`),
          this.#ask(phone, 'POST', '/api/v1/mobile_push/register', registrationForm()),
        ]);
        const events = told as { id: number; status: string }[];
        const [event] = events;
        if (events.length !== 1 || event?.status !== 'active')
          throw new Error('a phone did not become active');
        user.lastEventId = event.id;
        this.#idle.push(user);
        active += 1;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return (active * 1000) / (performance.now() - start);
  }

  async close(): Promise<void> {
    await this.#http.destroy();
  }

  async #ask(
    { authorization }: BenchPhone,
    method: 'GET' | 'POST',
    path: string,
    form?: string,
  ): Promise<JsonObject> {
    const { statusCode, body } = await this.#http.request({
      method,
      path,
      body: form ?? null,
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`the server refused: ${text}`);
    return parseJson(text) as JsonObject;
  }
}
