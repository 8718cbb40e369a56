import { createRequire } from 'node:module';
import { encodePushRegistration } from '@waxwing/protocol';
import { loadWasmSodium, type Sodium } from '@waxwing/sodium';
import { loadNativeSodium } from '@waxwing/sodium/native';
import libsodium from 'libsodium-wrappers';
import { type BenchResult, medianRates, rateOf } from './bench-result.js';

const rounds = 9;
const roundMilliseconds = 400;

/** `open-native` and `open-wasm`: opening a sealed registration with our `sodium`, compared with the bare library. */
export async function run(): Promise<BenchResult[]> {
  const results = [await measure('open-wasm', await loadWasmSodium(), await bareWasm())];
  const native = await loadNativeSodium((reason) => {
    console.error(`open-native is skipped: ${reason}`);
  });
  return native ? [await measure('open-native', native, bareNative()), ...results] : results;
}

type BareOpen = (sealed: Uint8Array, publicKey: Uint8Array, privateKey: Uint8Array) => Uint8Array;

async function measure(name: string, sodium: Sodium, bareOpen: BareOpen): Promise<BenchResult> {
  const keyPair = sodium.generateKeyPair();
  const registration = encodePushRegistration({
    tokenKind: 'fcm',
    token: 'f'.repeat(100),
    timestamp: 1_773_200_000,
  });
  const sealed = sodium.seal(registration, keyPair.publicKey);
  const ours = (): void => {
    if (sodium.openSealed(sealed, keyPair)?.length !== registration.length) throw new Error('not opened');
  };
  const bare = (): void => {
    if (bareOpen(sealed, keyPair.publicKey, keyPair.privateKey).length !== registration.length) {
      throw new Error('not opened');
    }
  };
  const rates = await medianRates(
    rounds,
    async () => rateOf(ours, roundMilliseconds),
    async () => rateOf(bare, roundMilliseconds),
  );
  return { name, unit: 'openings/s', ...rates, goal: 0.9, better: 'higher' };
}

async function bareWasm(): Promise<BareOpen> {
  await libsodium.ready;
  return (sealed, publicKey, privateKey) => libsodium.crypto_box_seal_open(sealed, publicKey, privateKey);
}

interface SodiumNative {
  crypto_box_seal_open(
    message: Uint8Array,
    sealed: Uint8Array,
    publicKey: Uint8Array,
    privateKey: Uint8Array,
  ): boolean;
}

function bareNative(): BareOpen {
  const require = createRequire(import.meta.url);
  const native = require('sodium-native') as SodiumNative;
  return (sealed, publicKey, privateKey) => {
    const message = new Uint8Array(sealed.length - 48);
    if (!native.crypto_box_seal_open(message, sealed, publicKey, privateKey)) throw new Error('not opened');
    return message;
  };
}
