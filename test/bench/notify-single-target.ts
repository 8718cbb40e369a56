import { createLogger } from '@waxwing/service/logging';
import { productionTimings } from '#relay/deliveries/delivery-timings.js';
import { startDeliveriesUnderTest } from '../apps/relay/deliveries/deliveries-under-test.js';
import { listenWithPhones } from './notify-endpoint.js';

/** The process that `notify-single` measures: a relay that delivers to stand-ins. Its argument names them as JSON. */

const relay = await startDeliveriesUnderTest({
  vendors: JSON.parse(process.argv[2] ?? '{}'),
  timings: productionTimings,
  // Formats log lines of requests, as in production, and discards them.
  log: createLogger('bench', 'info', { write: () => undefined }),
  environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '100000000' },
});
process.send?.(await listenWithPhones(relay));
process.once('SIGTERM', async () => {
  await relay.close();
  process.exit(0);
});
