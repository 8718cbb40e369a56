import type { BrowserPhone } from './browser-phone.js';
import { byId, make, tellBytes } from './elements.js';
import { fetchRelayKeys, rotateRelayKey } from './page-api.js';

/** Interval between two syncs of the phone. */
const idleMilliseconds = 5000;
/** Sync interval while a new key list is expected. The server fetches the list from the relay at most every 5 seconds. */
const expectingMilliseconds = 1000;

/**
 * Keeps the phone registered, as an app does at each start, so that it follows each rotation of the relay's key. Shows
 * the registration's status, and which key the push token is sealed to.
 */
export async function keepRegistered(phone: BrowserPhone): Promise<never> {
  let sealedTo: string | undefined;
  let isExpecting = false;
  let wake = (): void => undefined;
  byId('rotate').addEventListener('click', async () => {
    isExpecting = await rotate();
    wake();
  });
  for (;;) {
    const status = await phone.registrar.sync();
    byId('phone-status').textContent = status.sentence;
    const registration = await phone.registration();
    if (
      status.code === 'active' &&
      registration !== undefined &&
      registration.bouncerPublicKey !== sealedTo
    ) {
      const isFirst = sealedTo === undefined;
      sealedTo = registration.bouncerPublicKey;
      await showSealed(phone, await showKeys(sealedTo));
      if (!isFirst)
        byId('rotate-status').textContent = 'The phone has registered again, sealed to the new key.';
      (byId('rotate') as HTMLButtonElement).disabled = false;
      isExpecting = false;
    }
    const pause = isExpecting ? expectingMilliseconds : idleMilliseconds;
    await new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, pause);
    });
  }
}

/** Asks the relay for a new primary key. Resolves to whether the relay created the key. */
async function rotate(): Promise<boolean> {
  const button = byId('rotate') as HTMLButtonElement;
  button.disabled = true;
  const status = byId('rotate-status');
  status.textContent = 'The relay is creating a new key …';
  try {
    await rotateRelayKey();
    status.textContent = 'The relay has a new key. The phone waits for the new signed list …';
    return true;
  } catch (error) {
    status.textContent = (error as Error).message;
    button.disabled = false;
    return false;
  }
}

/** Longer texts for states that need an explanation. */
const stateSentences: Readonly<Record<string, string>> = {
  accepted: 'accepted: still opens tokens that phones sealed to it',
};

/** Shows all keys of the relay. Returns the id of the key that the push token is sealed to. */
async function showKeys(sealedTo: string): Promise<string> {
  const { keys } = await fetchRelayKeys();
  const items = keys.map(({ id, public_key, state }) => {
    const key = [make('code', id), document.createTextNode(` ${stateSentences[state] ?? state}`)];
    if (public_key !== sealedTo) return make('li', key);
    return make('li', [...key, make('span', 'The phone’s push token is sealed to this key.', 'sealed-to')]);
  });
  byId('keys').replaceChildren(...items);
  return keys.find(({ public_key }) => public_key === sealedTo)?.id ?? sealedTo;
}

async function showSealed(phone: BrowserPhone, keyId: string): Promise<void> {
  const sealed = await phone.sealedRegistration();
  if (sealed === undefined) return;
  tellBytes('server-bytes', sealed, `Only the relay can open it, with the private half of its key ${keyId}.`);
}
