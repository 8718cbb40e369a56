import { randomBytes } from 'node:crypto';
import {
  encodePushKey,
  type JsonObject,
  parseJson,
  registerClientDevicePath,
  registerPushDevicePath,
} from '@waxwing/protocol';
import { Pool } from 'undici';
import { RelayStandIn } from '../support/relay-stand-in.js';
import { type BenchResult, medianRates, type Rates } from './bench-result.js';
import { withBenchTarget } from './bench-target.js';
import { registrationForm } from './server-accept.js';
import { type ActiveBenchTarget, answerOfRelay, type BenchPhone } from './server-active.js';

const rounds = 15;
const registrationsPerRound = 500;
const atOnce = 32;

type Registrations = readonly { readonly phone: BenchPhone; readonly form: string }[];

/**
 * `server-newer`: registrations per second in the newer generation of the protocol, compared with the older generation,
 * on one server. A round lasts from the first request until the server's jobs have forwarded the last registration to
 * the relay. The relay's stand-in runs in this process and responds immediately. The devices of the newer generation
 * are created in advance.
 */
export async function run(): Promise<BenchResult[]> {
  let forwarded = 0;
  let onForwarded: () => void = () => undefined;
  const relay = await RelayStandIn.start({ takesMany: true });
  relay.otherwise(
    answerOfRelay((registrations) => {
      forwarded = registrations;
      onForwarded();
    }),
  );
  const program = new URL('./server-active-target.ts', import.meta.url);
  try {
    const rates = await withBenchTarget<ActiveBenchTarget, Rates>(program, [relay.url], async (target) => {
      const server = new RegistrationsLoad(target);
      const round = (prepare: () => Promise<Registrations>) => async (): Promise<number> => {
        const registrations = await prepare();
        relay.requests.length = 0;
        const last = forwarded + registrations.length;
        const start = performance.now();
        const done = new Promise<void>((resolve) => {
          onForwarded = () => forwarded >= last && resolve();
        });
        await Promise.all([server.send(registrations), done]);
        return (registrations.length * 1000) / (performance.now() - start);
      };
      const [newer, older] = [round(() => server.ofDevices()), round(() => server.ofAccounts())];
      await newer();
      await older();
      const measured = await medianRates(rounds, newer, older);
      await server.close();
      return measured;
    });
    return [{ name: 'server-newer', unit: 'registrations/s', ...rates, goal: 0.95, better: 'higher' }];
  } finally {
    await relay.close();
  }
}

/** Load generator for registrations of new phones, round-robin across users. */
class RegistrationsLoad {
  readonly #http: Pool;
  readonly #phones: readonly BenchPhone[];

  constructor({ forwardingPort, phones }: ActiveBenchTarget) {
    this.#http = new Pool(`http://127.0.0.1:${forwardingPort}`, { connections: atOnce, pipelining: 1 });
    this.#phones = phones;
  }

  async ofAccounts(): Promise<Registrations> {
    return this.#each(async (phone) => ({ phone, form: registrationForm() }));
  }

  /** Also creates the devices. */
  async ofDevices(): Promise<Registrations> {
    return this.#each(async (phone) => {
      const { device_id: id } = await this.#ask(phone, registerClientDevicePath, '');
      return { phone, form: deviceForm(String(id)) };
    });
  }

  async send(registrations: Registrations): Promise<void> {
    await forEach(registrations, ({ phone, form }) => this.#ask(phone, registerPushDevicePath, form));
  }

  async close(): Promise<void> {
    await this.#http.destroy();
  }

  async #each(make: (phone: BenchPhone) => Promise<Registrations[number]>): Promise<Registrations> {
    const phones = this.#phones;
    const chosen = Array.from({ length: registrationsPerRound }, (_, index) => phones[index % phones.length]);
    const made: Registrations[number][] = [];
    await forEach(chosen, async (phone) => void (phone && made.push(await make(phone))));
    return made;
  }

  /** Sends a request, and retries while the server sheds load. @throws Error for any other response except success. */
  async #ask(phone: BenchPhone, path: string, form: string): Promise<JsonObject> {
    const { authorization } = phone;
    const { statusCode, body } = await this.#http.request({
      method: 'POST',
      path,
      body: form,
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
    });
    const text = await body.text();
    if (statusCode === 503) return this.#ask(phone, path, form);
    if (statusCode !== 200) throw new Error(`the server refused: ${text}`);
    return parseJson(text) as JsonObject;
  }
}

/** Runs `work` on all items, at most 32 at a time. */
async function forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Returns the form of {@link registrationForm} for a device, with a key and a token id instead of an account. */
function deviceForm(deviceId: string): string {
  const form = new URLSearchParams(registrationForm());
  form.delete('push_account_id');
  form.delete('push_public_key');
  form.set('device_id', deviceId);
  form.set('push_key_id', String(randomBytes(4).readUInt32BE()));
  form.set('push_key', encodePushKey(randomBytes(32)));
  form.set('token_id', randomBytes(8).toString('base64'));
  return form.toString();
}
