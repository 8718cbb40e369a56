import { type BenchResult, medianRates, type Rates } from './bench-result.js';
import { withBenchTarget } from './bench-target.js';
import { type NotifyTarget, openNotifyLoad } from './notify-endpoint.js';
import { VendorsProcess } from './vendors-process.js';

const rounds = 7;
const roundMilliseconds = 1500;
const latencyMilliseconds = 20;
const phonesPerRequest = 100;

/**
 * `notify-single`: notifications per second to the stand-in for APNs through the relay's notify endpoint with one
 * notification per request, compared with a hundred. The relay is a separate process, because a hundred times as many
 * requests also cost the client CPU time. In flight are 1,000 notifications in requests of a hundred, but only 400 in
 * requests of one: the relay would refuse requests that it cannot serve within 300 ms, which `overload` measures.
 */
export async function run(): Promise<BenchResult[]> {
  const stand = await VendorsProcess.start(latencyMilliseconds);
  const program = new URL('./notify-single-target.ts', import.meta.url);
  try {
    const rates = await withBenchTarget<NotifyTarget, Rates>(
      program,
      [JSON.stringify(stand.vendors)],
      (target) => singlyAgainstTogether(target, stand),
    );
    return [{ name: 'notify-single', unit: 'notifications/s', goal: 0.5, better: 'higher', ...rates }];
  } finally {
    stand.stop();
  }
}

async function singlyAgainstTogether(target: NotifyTarget, stand: VendorsProcess) {
  const singly = await openNotifyLoad(target, { phonesPerRequest: 1, underWay: 400 });
  const fresh = async (round: () => Promise<number>): Promise<number> => {
    await stand.forget();
    return round();
  };
  const oneRound = () => singly.run(roundMilliseconds);
  await fresh(oneRound);
  // Opens these connections only after the first round, because the relay closes idle connections.
  const together = await openNotifyLoad(target, { phonesPerRequest, underWay: 1000 });
  const manyRound = async () => (await together.run(roundMilliseconds)) * phonesPerRequest;
  await fresh(manyRound);
  const rates = await medianRates(
    rounds,
    () => fresh(oneRound),
    () => fresh(manyRound),
  );
  singly.close();
  together.close();
  return rates;
}
