import { encodePushRegistration } from '@waxwing/protocol';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { computeTokenId } from '#relay/registrations/store/addressee.js';
import { type BenchResult, medianRates, type Rates } from './bench-result.js';
import { withBenchTarget } from './bench-target.js';
import { HttpLoad } from './http-load.js';
import { type NotifyTarget, openNotifyLoad } from './notify-endpoint.js';
import { type RelayBenchTarget, registrationRequest } from './relay-register.js';
import { VendorsProcess } from './vendors-process.js';

const rounds = 25;
// Many short rounds: on a busy machine, the speed varies more from second to second than the two rates differ.
const roundMilliseconds = 400;
const connections = 256;
const latencyMilliseconds = 20;
const firstRegistrations = 3000;
const goal = 0.95;

/**
 * `register-newer` and `notify-newer`: the same work in the newer generation of the protocol, compared with the older
 * generation in the same relay process. Each registration is for a new phone. Notifications go to the stand-in for
 * APNs, a hundred per request, or one per request in `notify-newer-single`.
 */
export async function run(): Promise<BenchResult[]> {
  const shared = { goal, better: 'higher' } as const;
  const [together, singly] = await notifyRates();
  return [
    { name: 'register-newer', unit: 'registrations/s', ...shared, ...(await registerRates()) },
    { name: 'notify-newer', unit: 'notifications/s', ...shared, ...together },
    { name: 'notify-newer-single', unit: 'notifications/s', ...shared, ...singly },
  ];
}

function registerRates(): Promise<Rates> {
  const program = new URL('./relay-register-target.ts', import.meta.url);
  return withBenchTarget<RelayBenchTarget, Rates>(program, [], async (target) => {
    const measure = async (generation: 'older' | 'newer') => {
      const { refill, nextRequest } = await newPhones(target, generation);
      let last = firstRegistrations;
      return async (): Promise<number> => {
        refill((1.5 * last * roundMilliseconds) / 1000);
        last = await freshLoad(() => HttpLoad.open({ port: target.durablePort, connections, nextRequest }));
        return last;
      };
    };
    const [newer, older] = [await measure('newer'), await measure('older')];
    await newer();
    await older();
    return medianRates(rounds, newer, older);
  });
}

/** Runs one round over new connections, because the relay would close connections that are idle between rounds. */
async function freshLoad(open: () => Promise<HttpLoad>): Promise<number> {
  const load = await open();
  try {
    return await load.run(roundMilliseconds);
  } finally {
    load.close();
  }
}

/** Returns a source of registration requests, each from a new phone. `refill` seals registrations in advance. */
async function newPhones(target: RelayBenchTarget, generation: 'older' | 'newer') {
  const { sodium } = await loadFastestSodium();
  const publicKey = new Uint8Array(Buffer.from(target.bouncerPublicKey, 'base64'));
  const timestamp = Math.floor(Date.now() / 1000);
  const requests: Buffer[] = [];
  let count = 0;
  const makeOne = (): Buffer => {
    count += 1;
    const token = `fcm-token-${generation}-${String(count).padStart(9, '0')}:${'f'.repeat(80)}`;
    const registration = { tokenKind: 'fcm', token, timestamp, audience: target.realmUuid } as const;
    const sealed = sodium.seal(encodePushRegistration(registration, { padded: true }), publicKey);
    const named =
      generation === 'newer' ? { token_id: computeTokenId(token) } : { push_account_id: randomAccount() };
    return registrationRequest(target, sealed, named);
  };
  return {
    refill(wanted: number): void {
      while (requests.length < wanted) requests.push(makeOne());
    },
    nextRequest: () => requests.pop() ?? makeOne(),
  };
}

/** Returns a random account id, as a client would choose it, but always with 19 digits. */
function randomAccount(): string {
  return String(10n ** 18n + BigInt(Math.floor(Math.random() * 8e15)) * 1000n);
}

async function notifyRates(): Promise<readonly [Rates, Rates]> {
  const stand = await VendorsProcess.start(latencyMilliseconds);
  const program = new URL('./notify-single-target.ts', import.meta.url);
  try {
    const parameters = [JSON.stringify(stand.vendors)];
    return await withBenchTarget<NotifyTarget, [Rates, Rates]>(program, parameters, async (target) => [
      await newerAgainstOlder(target, stand, { phonesPerRequest: 100, underWay: 1000 }),
      await newerAgainstOlder(target, stand, { phonesPerRequest: 1, underWay: 200 }),
    ]);
  } finally {
    stand.stop();
  }
}

async function newerAgainstOlder(
  target: NotifyTarget,
  stand: VendorsProcess,
  size: { readonly phonesPerRequest: number; readonly underWay: number },
): Promise<Rates> {
  const round = (generation: 'older' | 'newer') => async (): Promise<number> => {
    await stand.forget();
    return (await freshLoad(() => openNotifyLoad(target, { ...size, generation }))) * size.phonesPerRequest;
  };
  const [newer, older] = [round('newer'), round('older')];
  await newer();
  await older();
  return medianRates(rounds, newer, older);
}
