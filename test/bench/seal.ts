import { createRequire } from 'node:module';
import { encodeNotification, type MessageContent, sealNotification } from '@waxwing/server-push';
import { loadWasmSodium, type Sodium } from '@waxwing/sodium';
import { loadNativeSodium } from '@waxwing/sodium/native';
import libsodium from 'libsodium-wrappers';
import { accountIdText, relayDeviceId, userId as user } from '../support/ids.js';
import { type BenchOptions, type BenchResult, medianRates, rateOf } from './bench-result.js';

const rounds = 9;
const roundMilliseconds = 300;
const realm = { uuid: '', url: 'https://chat.example.com', name: 'Example' };
const content: MessageContent = {
  type: 'message',
  messageId: 45_000,
  time: 1_773_200_000,
  content: 'The meeting moves to three o’clock; whoever cannot come says so here, please.',
  senderId: 6,
  senderFullName: 'Ada Lovelace',
  senderAvatarUrl: 'https://chat.example.com/user_avatars/2/6.png?version=1',
  recipient: { kind: 'channel', channelId: 10, channelName: 'engineering', topic: 'weekly meeting' },
};

/**
 * `seal-native` and `seal-wasm`: notifications that the server builds, pads and seals per second, each for one device
 * of a different user, compared with the bare library, which seals the same number of bytes.
 */
export async function run(_options: BenchOptions): Promise<BenchResult[]> {
  const results = [await measure('seal-wasm', await loadWasmSodium(), await bareWasm())];
  const native = await loadNativeSodium((reason) => {
    console.error(`seal-native is skipped: ${reason}`);
  });
  return native ? [await measure('seal-native', native, bareNative()), ...results] : results;
}

type BareSeal = (message: Uint8Array, publicKey: Uint8Array) => Uint8Array;

async function measure(name: string, sodium: Sodium, bareSeal: BareSeal): Promise<BenchResult> {
  const { publicKey } = sodium.generateKeyPair();
  const pushPublicKey = Buffer.from(publicKey).toString('base64');
  const device = {
    pushAccountId: accountIdText('9223372036854775807'),
    tokenKind: 'apns',
    pushPublicKey,
    relayDeviceId: relayDeviceId(7),
  } as const;
  const padded = encodeNotification(realm, user(1), content);
  let userId = 0;
  const ours = (): void => {
    userId += 1;
    const request = sealNotification(
      sodium,
      device,
      content.type,
      encodeNotification(realm, user(userId), content),
    );
    if (request.payload.encrypted_data === '') throw new Error('not sealed');
  };
  const bare = (): void => {
    if (bareSeal(padded, publicKey).length !== padded.length + 48) throw new Error('not sealed');
  };
  const rates = await medianRates(
    rounds,
    async () => rateOf(ours, roundMilliseconds),
    async () => rateOf(bare, roundMilliseconds),
  );
  return { name, unit: 'notifications/s', ...rates, goal: 0.8, better: 'higher' };
}

async function bareWasm(): Promise<BareSeal> {
  await libsodium.ready;
  return (message, publicKey) => libsodium.crypto_box_seal(message, publicKey);
}

interface SodiumNative {
  crypto_box_seal(sealed: Uint8Array, message: Uint8Array, publicKey: Uint8Array): void;
}

function bareNative(): BareSeal {
  const require = createRequire(import.meta.url);
  const native = require('sodium-native') as SodiumNative;
  return (message, publicKey) => {
    const sealed = new Uint8Array(message.length + 48);
    native.crypto_box_seal(sealed, message, publicKey);
    return sealed;
  };
}
