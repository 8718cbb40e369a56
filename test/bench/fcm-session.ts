import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '@waxwing/service/logging';
import { Agent, Pool } from 'undici';
import { readAppsFile } from '#relay/deliveries/apps/read-apps-file.js';
import { FcmSender } from '#relay/deliveries/vendors/fcm/sender.js';
import { AccessToken } from '#relay/deliveries/vendors/fcm/token.js';
import { ReachLog } from '#relay/deliveries/vendors/reach-log.js';
import { type BenchResult, medianRates } from './bench-result.js';
import { encryptedData, sampleDelivery } from './delivery-samples.js';
import { keepBusy } from './keep-busy.js';
import { startVendorsNginx } from './vendors-nginx.js';
import { VendorsProcess } from './vendors-process.js';

const rounds = 9;
const roundMilliseconds = 700;
const connections = 100;

/**
 * `fcm-session`: notifications per second to nginx over 100 keep-alive connections through the relay's sender, compared
 * with a bare undici loop with a cached access token. The stand-ins only issue the access tokens.
 */
export async function run(): Promise<BenchResult[]> {
  const stand = await VendorsProcess.start(0);
  const vendors = await startVendorsNginx();
  try {
    const { credentials } = stand.vendors;
    const appsFile = join(credentials.serviceAccountFile, '..', 'apps.json');
    writeFileSync(
      appsFile,
      JSON.stringify({ fcm: [{ service_account_file: credentials.serviceAccountFile }] }),
      {
        mode: 0o600,
      },
    );
    const [app] = (await readAppsFile(appsFile)).fcm;
    if (app === undefined) throw new Error('the apps file lists no project');
    const log = createLogger('bench', 'silent');
    const sender = new FcmSender({
      app,
      baseUrl: vendors.fcm,
      clock: Date.now,
      timeoutMilliseconds: 10_000,
      log,
    });
    const bare = new Pool(vendors.fcm, { connections });
    const reach = new ReachLog(log, app.tokenUri, 'RELAY_CA_FILE');
    const dispatcher = new Agent();
    const token = await new AccessToken({ app, clock: Date.now, dispatcher, reach }).get();
    if (token.kind !== 'token') throw new Error('the stand-in gave no access token');
    const headers = { authorization: `Bearer ${token.accessToken}`, 'content-type': 'application/json' };
    const path = `/v1/projects/${app.projectId}/messages:send`;
    let index = 0;
    const ours = async (): Promise<number> => {
      index += 1;
      const options = { environment: 'production', notAfter: Number.POSITIVE_INFINITY } as const;
      const answer = await sender.send(sampleDelivery('fcm', index), options);
      if (answer.kind !== 'accepted') throw new Error(JSON.stringify(answer));
      return 1;
    };
    const theirs = async (): Promise<number> => {
      index += 1;
      const { notification, device } = sampleDelivery('fcm', index);
      const data = { push_account_id: notification.addressee, encrypted_data: encryptedData };
      const android = { priority: 'HIGH', ttl: '86400s' };
      const body = JSON.stringify({ message: { token: device.target.token, data, android } });
      const response = await bare.request({ method: 'POST', path, headers, body });
      if (response.statusCode !== 200) throw new Error(`nginx answered ${response.statusCode}`);
      await response.body.dump();
      return 1;
    };
    await keepBusy(connections, 1000, ours);
    await keepBusy(connections, 1000, theirs);
    const round = (work: () => Promise<number>) => keepBusy(connections, roundMilliseconds, work);
    const figures = await medianRates(
      rounds,
      () => round(ours),
      () => round(theirs),
    );
    await sender.close(0);
    await bare.destroy();
    await dispatcher.destroy();
    return [{ name: 'fcm-session', unit: 'notifications/s', goal: 0.9, better: 'higher', ...figures }];
  } finally {
    await vendors.stop();
    stand.stop();
  }
}
