import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  apnsRequest,
  apnsToken,
  fcmRequest,
  startDeliveriesUnderTest,
} from '../apps/relay/deliveries/deliveries-under-test.js';
import { type BenchResult, median } from './bench-result.js';
import { VendorsProcess } from './vendors-process.js';

const early = 10_000;
const late = 1_000_000;
const perRequest = 250;
const requestsAtOnce = 4;
const phones = 1000;
const samples = 5;

/**
 * `memory`: the relay's resident memory after a million notifications, relative to its memory after ten thousand. Both
 * are measured after garbage collection. Detects memory leaks per notification. Takes about ten minutes.
 */
export async function run(): Promise<BenchResult[]> {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const stand = await VendorsProcess.start(0);
  const relay = await startDeliveriesUnderTest({
    vendors: stand.vendors,
    environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '1000000000' },
  });
  try {
    const requests: object[] = [];
    for (let index = 0; index < phones; index += 2) {
      requests.push(apnsRequest(await relay.addApns(apnsToken(index))));
      requests.push(fcmRequest(await relay.addFcm(`fcm-${index}`)));
    }
    let sent = 0;
    const sendUntil = async (total: number): Promise<void> => {
      const worker = async (): Promise<void> => {
        while (sent < total) {
          const offset = sent % phones;
          sent += perRequest;
          const { status } = await relay.notify(requests.slice(offset, offset + perRequest));
          if (status !== 200) throw new Error(`the relay answered ${status}`);
          if (sent % 50_000 === 0) await stand.forget();
        }
      };
      await Promise.all(Array.from({ length: requestsAtOnce }, worker));
    };
    const resident = async (): Promise<number> => {
      const figures: number[] = [];
      for (let sample = 0; sample < samples; sample += 1) {
        collectGarbage();
        await new Promise((resolve) => setImmediate(resolve));
        figures.push(process.memoryUsage.rss() / 1024 / 1024);
      }
      return median(figures);
    };
    await sendUntil(early);
    const against = await resident();
    await sendUntil(late);
    const value = await resident();
    return [
      { name: 'memory', value, unit: 'MiB', against, ratio: value / against, goal: 1.2, better: 'lower' },
    ];
  } finally {
    await relay.close();
    stand.stop();
  }
}
