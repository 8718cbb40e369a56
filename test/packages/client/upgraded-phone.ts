import type { PushClientOptions } from '@waxwing/client';
import type { ModelDevice } from './model-client-devices.js';
import { createPhone } from './phone.js';

/** Creates a phone with a server of the newer generation. */
export async function createUpgradedPhone(options: Partial<PushClientOptions> = {}) {
  const phone = await createPhone(options);
  const { server } = phone;
  server.featureLevel = 500;
  const { clientDevices } = server;
  /** Returns the fields of the requests that registered a key, a token, or both. */
  const sent = () =>
    server.requestsTo('mobile_push/register').map(({ fields }) => Object.fromEntries(fields));
  const row = async () => {
    const [account] = await phone.accounts.list();
    if (account === undefined) throw new Error('The phone has no account.');
    return account;
  };
  /** Returns the server's only device. */
  const device = (): ModelDevice => {
    const [only, ...others] = clientDevices.rows.values();
    if (only === undefined || others.length > 0) throw new Error(`${clientDevices.rows.size} devices`);
    return only;
  };
  /** Sends a message to every device. Returns the result of opening each push on the phone. */
  let pushes = 0;
  const nextNonce = () => {
    pushes += 1;
    return new Uint8Array(24).fill(pushes);
  };
  const notify = async (messageId: number, realmUrl = server.url) => {
    const plaintext = JSON.stringify(messageOf(messageId, realmUrl));
    const sealed = [...clientDevices.rows.values()]
      .filter(({ push_token_id }) => push_token_id !== null)
      .map((each) => clientDevices.sealFor(each, plaintext, nextNonce()));
    return Promise.all(sealed.map((push) => phone.client.open(push)));
  };
  return { ...phone, clientDevices, sent, row, device, notify };
}

export function messageOf(messageId: number, realmUrl: string) {
  return {
    type: 'message',
    realm_url: realmUrl,
    user_id: 10,
    message_id: messageId,
    time: 1_773_200_000,
    content: 'Hello',
    sender_id: 6,
    sender_full_name: 'Iago',
    recipient_user_ids: [6, 10],
    sender_avatar_url: `${realmUrl}/avatar/6`,
  };
}
