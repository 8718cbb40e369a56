import { startDeliveriesUnderTest } from '../apps/relay/deliveries/deliveries-under-test.js';
import { type BenchResult, medianRates } from './bench-result.js';
import { openNotifyLoad } from './notify-endpoint.js';
import { VendorsProcess } from './vendors-process.js';

const rounds = 7;
const roundMilliseconds = 1500;
const latencyMilliseconds = 20;
const phonesPerRequest = 100;

/**
 * `notify-single`: notifications per second to the stand-in for APNs through the relay's notify endpoint in requests of
 * one, against the same in requests of a hundred. Both keep 1,000 notifications under way.
 */
export async function run(): Promise<BenchResult[]> {
  const stand = await VendorsProcess.start(latencyMilliseconds);
  const relay = await startDeliveriesUnderTest({
    vendors: stand.vendors,
    environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '100000000' },
  });
  try {
    const singly = await openNotifyLoad(relay, 1);
    const fresh = async (round: () => Promise<number>): Promise<number> => {
      await stand.forget();
      return round();
    };
    const oneRound = () => singly.run(roundMilliseconds);
    await fresh(oneRound);
    // Opened only now: a connection on which nothing is asked for long is closed.
    const together = await openNotifyLoad(relay, phonesPerRequest);
    const manyRound = async () => (await together.run(roundMilliseconds)) * phonesPerRequest;
    await fresh(manyRound);
    const rates = await medianRates(
      rounds,
      () => fresh(oneRound),
      () => fresh(manyRound),
    );
    singly.close();
    together.close();
    return [{ name: 'notify-single', unit: 'notifications/s', goal: 0.5, better: 'higher', ...rates }];
  } finally {
    await relay.close();
    stand.stop();
  }
}
