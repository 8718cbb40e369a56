import { type ClientHttp2Session, connect } from 'node:http2';
import { createLogger } from '@waxwing/service/logging';
import { generateKeyPair, SignJWT } from 'jose';
import { productionTimings } from '#relay/deliveries/delivery-timings.js';
import { buildApnsNotification } from '#relay/deliveries/vendors/apns/message.js';
import { ApnsPool } from '#relay/deliveries/vendors/apns/pool.js';
import { ReachLog } from '#relay/deliveries/vendors/reach-log.js';
import { type BenchResult, medianRates } from './bench-result.js';
import { apnsToken, encryptedData, sampleDelivery, topic } from './delivery-samples.js';
import { keepBusy } from './keep-busy.js';
import { startVendorsNginx } from './vendors-nginx.js';

const rounds = 9;
const roundMilliseconds = 700;
const streams = 100;

/**
 * `apns-session`: notifications per second over one connection to nginx with 100 in flight. Compares the relay's
 * session (queue, stream count, timeouts, resending) with a bare `node:http2` loop that has none of these features.
 */
export async function run(): Promise<BenchResult[]> {
  const { apns: url, ca, stop } = await startVendorsNginx();
  try {
    const authorization = await providerToken();
    const pool = new ApnsPool({
      url,
      ca,
      clock: Date.now,
      timings: productionTimings.apns,
      maximumConnections: 1,
      maximumWaiting: 2 * streams,
      reach: new ReachLog(createLogger('bench', 'silent'), url, 'RELAY_CA_FILE'),
    });
    const bare = await BareSession.open(url, ca, authorization);
    const app = { hasFilteringEntitlement: false };
    let index = 0;
    const ours = async (): Promise<number> => {
      index += 1;
      const notification = buildApnsNotification(sampleDelivery('apns', index), app);
      const result = await pool.send({ notification, authorization, notAfter: Number.POSITIVE_INFINITY });
      if (result.kind !== 'answered' || result.httpStatus !== 200) throw new Error(JSON.stringify(result));
      return 1;
    };
    const theirs = async (): Promise<number> => {
      index += 1;
      await bare.send(index);
      return 1;
    };
    await keepBusy(streams, 1000, ours);
    await keepBusy(streams, 1000, theirs);
    const round = (work: () => Promise<number>) => keepBusy(streams, roundMilliseconds, work);
    const figures = await medianRates(
      rounds,
      () => round(ours),
      () => round(theirs),
    );
    await pool.close(0);
    bare.close();
    return [{ name: 'apns-session', unit: 'notifications/s', goal: 0.9, better: 'higher', ...figures }];
  } finally {
    await stop();
  }
}

/** Minimal APNs client on `node:http2`. */
class BareSession {
  readonly #session: ClientHttp2Session;
  readonly #authorization: string;

  private constructor(session: ClientHttp2Session, authorization: string) {
    this.#session = session;
    this.#authorization = authorization;
  }

  static async open(url: string, ca: string, authorization: string): Promise<BareSession> {
    const session = connect(url, { ca });
    await new Promise((found, failed) => {
      session.once('remoteSettings', found);
      session.once('error', failed);
    });
    const bare = new BareSession(session, authorization);
    return bare;
  }

  send(index: number): Promise<void> {
    const delivery = sampleDelivery('apns', index);
    const stream = this.#session.request({
      ':method': 'POST',
      ':path': `/3/device/${apnsToken(index)}`,
      'apns-topic': topic,
      'apns-push-type': 'alert',
      'apns-priority': '10',
      'apns-id': delivery.notification.notificationId,
      'apns-expiration': String(Math.floor(Date.now() / 1000) + 86_400),
      authorization: this.#authorization,
    });
    const body = `{"aps":{"alert":{"title":"New notification"},"mutable-content":1,"sound":"default"},"push_account_id":4611686018427387904,"encrypted_data":"${encryptedData}"}`;
    return new Promise((done, failed) => {
      stream.on('response', ({ ':status': status }) => {
        if (status !== 200) failed(new Error(`nginx answered ${status}`));
        stream.resume();
      });
      stream.on('error', failed);
      stream.on('close', done);
      stream.end(body);
    });
  }

  close(): void {
    this.#session.destroy();
  }
}

/** Creates a provider token of realistic size. nginx does not check the token. */
async function providerToken(): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256');
  const token = await new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: 'KEYKEYKEY1' })
    .setIssuer('TEAMTEAM01')
    .setIssuedAt()
    .sign(privateKey);
  return `bearer ${token}`;
}
