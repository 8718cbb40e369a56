import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { Notification, Provider } from '@parse/node-apn';
import { relayNotifyPath, stringifyJson } from '@waxwing/protocol';
import {
  apnsRequest,
  type DeliveriesUnderTest,
  apnsToken as phoneToken,
  realmUuid,
  startDeliveriesUnderTest,
} from '../apps/relay/deliveries/deliveries-under-test.js';
import { type BenchResult, medianRates } from './bench-result.js';
import { apnsToken, encryptedData, topic } from './delivery-samples.js';
import { HttpLoad } from './http-load.js';
import { keepBusy } from './keep-busy.js';
import { VendorsProcess } from './vendors-process.js';

const rounds = 9;
// Long enough that filling and draining the pipeline of requests is a small part of a round.
const roundMilliseconds = 1500;
const latencyMilliseconds = 20;
const underWay = 1000;
/**
 * Concurrency levels to try for the peer. The peer slows down with many notifications in flight, so the benchmark first
 * finds the fastest level.
 */
const peersUnderWay = [50, 100, 200, 400, 1000];
const phonesPerRequest = 100;
const phones = 1000;

/**
 * `notify-endpoint`: notifications per second to the stand-in for APNs through the relay's complete notify endpoint
 * (HTTP, authentication, lookup and decryption of tokens, delivery, results), compared with direct calls of
 * `@parse/node-apn`. The relay has 1,000 notifications in flight, and the peer has its fastest number.
 */
export async function run(): Promise<BenchResult[]> {
  const stand = await VendorsProcess.start(latencyMilliseconds);
  const relay = await startDeliveriesUnderTest({ vendors: stand.vendors });
  const provider = openNodeApn(stand);
  try {
    const load = await openNotifyLoad(await listenWithPhones(relay), { phonesPerRequest, underWay });
    let index = 0;
    const theirs = async (): Promise<number> => {
      index += 1;
      const { sent, failed } = await provider.send(nodeApnNotification(), apnsToken(index));
      if (sent.length !== 1) throw new Error(`node-apn did not send: ${JSON.stringify(failed)}`);
      return 1;
    };
    const ourRound = async () => (await load.run(roundMilliseconds)) * phonesPerRequest;
    await ourRound();
    // Sends the first push by itself: a new connection allows one stream, so the peer's concurrent pushes would fail.
    await theirs();
    const best = await fastest(peersUnderWay, (count) => keepBusy(count, roundMilliseconds, theirs));
    process.stderr.write(`notify-endpoint: the peer is fastest with ${best} in flight\n`);
    const theirRound = () => keepBusy(best, roundMilliseconds, theirs);
    const fresh = async (round: () => Promise<number>): Promise<number> => {
      await stand.forget();
      return round();
    };
    const figures = await medianRates(
      rounds,
      () => fresh(ourRound),
      () => fresh(theirRound),
    );
    load.close();
    return [{ name: 'notify-endpoint', unit: 'notifications/s', goal: 1, better: 'higher', ...figures }];
  } finally {
    provider.shutdown();
    await relay.close();
    stand.stop();
  }
}

/**
 * Returns the concurrency level with the highest rate. Measures each level twice, because the first run compiles code.
 */
async function fastest(
  counts: readonly number[],
  rateWith: (count: number) => Promise<number>,
): Promise<number> {
  let best = { count: Number.NaN, rate: 0 };
  for (const count of [...counts, ...counts]) {
    const rate = await rateWith(count);
    if (rate > best.rate) best = { count, rate };
  }
  return best.count;
}

/** A listening relay and its registered phones. */
export interface NotifyTarget {
  readonly port: number;
  readonly authorization: string;
  readonly deviceIds: readonly number[];
  /** Token ids of the same phones, which are also registered in the newer generation. */
  readonly tokenIds: readonly string[];
}

/** Registers a thousand phones with a relay, then makes the relay listen. */
export async function listenWithPhones(relay: DeliveriesUnderTest): Promise<NotifyTarget> {
  const deviceIds: number[] = [];
  const tokenIds: string[] = [];
  for (let index = 0; index < phones; index += 1) {
    deviceIds.push(await relay.addApns(phoneToken(index)));
    tokenIds.push(await relay.addByToken('apns', phoneToken(index)));
  }
  await relay.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = relay.app.server.address() as AddressInfo;
  return { port, authorization: relay.authorization, deviceIds, tokenIds };
}

interface NotifyLoadOptions {
  readonly phonesPerRequest: number;
  /** Number of notifications in flight. */
  readonly underWay: number;
  readonly generation?: 'older' | 'newer';
}

/** Returns a request element of the newer generation with the same length as that of `apnsRequest`. */
export function apnsElement(tokenId: string): object {
  const { device_id: _none, payload, ...others } = apnsRequest(0) as { device_id: number; payload: object };
  const { push_account_id: _account, ...content } = payload as { push_account_id: bigint };
  return { token_id: tokenId, ...others, payload: { push_key_id: 4_294_967_295, ...content } };
}

/** Opens a load generator that sends notify requests. */
export function openNotifyLoad(
  { port, authorization, deviceIds, tokenIds }: NotifyTarget,
  { phonesPerRequest, underWay, generation = 'older' }: NotifyLoadOptions,
): Promise<HttpLoad> {
  const elements =
    generation === 'older' ? deviceIds.map((id) => apnsRequest(id)) : tokenIds.map((id) => apnsElement(id));
  const requests = Array.from({ length: phones / phonesPerRequest }, (_, index) => {
    const chosen = elements.slice(index * phonesPerRequest, (index + 1) * phonesPerRequest);
    const body = stringifyJson({ realm_uuid: realmUuid, push_requests: chosen as never });
    return Buffer.from(
      `POST ${relayNotifyPath} HTTP/1.1\r\nHost: relay\r\nAuthorization: ${authorization}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      'latin1',
    );
  });
  let next = 0;
  return HttpLoad.open({
    port,
    connections: underWay / phonesPerRequest,
    nextRequest: () => requests[next++ % requests.length] as Buffer,
    expected: `"apple_successfully_sent_count":${phonesPerRequest},`,
  });
}

function openNodeApn({ vendors: { urls, credentials } }: VendorsProcess): Provider {
  const { hostname, port } = new URL(urls.apnsProduction);
  const { apnsKeyFile: key, apnsKeyId: keyId, apnsTeamId: teamId, caFile } = credentials;
  const ca = [readFileSync(caFile, 'utf8')];
  return new Provider({ token: { key, keyId, teamId }, address: hostname, port: Number(port), ca });
}

function nodeApnNotification(): Notification {
  const notification = new Notification();
  notification.topic = topic;
  notification.pushType = 'alert';
  notification.priority = 10;
  notification.expiry = Math.floor(Date.now() / 1000) + 86_400;
  notification.rawPayload = {
    aps: { alert: { title: 'New notification' }, 'mutable-content': 1, sound: 'default' },
    push_account_id: 4611686018427387,
    encrypted_data: encryptedData,
  };
  return notification;
}
