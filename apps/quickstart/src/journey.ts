import type { Notification } from '@waxwing/protocol';
import { filesContaining } from './files-containing.js';
import type { JourneyPhone } from './journey-phone.js';
import { type Narrator, shorten } from './narrator.js';
import { firstDeliveryTo } from './vendor-deliveries.js';

export interface JourneyUrls {
  readonly vendorsUrl: string;
  readonly serverFiles: readonly string[];
  readonly relayFiles: readonly string[];
}

/** The message that the phone is notified about. */
export interface JourneyMessage {
  readonly content: string;
  /** Sends the message and returns its id. */
  send(): Promise<number>;
}

const deliveryTimeoutMilliseconds = 10_000;

/**
 * Registers the phone, sends one message that mentions its user, and prints each step. Returns the message's id.
 * @throws Error if a step has an unexpected result.
 */
export async function makeJourney(
  phone: JourneyPhone,
  { vendorsUrl, serverFiles, relayFiles }: JourneyUrls,
  message: JourneyMessage,
  narrator: Narrator,
): Promise<number> {
  narrator.title('The journey of one notification');
  narrator.step('Google gives a phone its push token. Any program that has it can reach the phone.', {
    'the phone': shorten(phone.token),
  });

  const status = await phone.registrar.sync();
  expectThat(status.code === 'active', `the registration is ${status.code}: ${status.sentence}`);
  const sent = phone.sentForms.find((form) => form.has('encrypted_push_registration'));
  const sealed = sent?.get('encrypted_push_registration') ?? '';
  expectThat(sealed !== '' && !sealed.includes(phone.token), 'the phone sent no sealed registration');
  narrator.step('The phone seals the token to the relay’s key and registers with its server.', {
    'the phone': 'sealed the token with the relay’s public key, and made a key for its notifications',
    'the server': `got ${shorten(sealed)}, which it cannot open`,
  });
  await expectAbsent(phone.token, serverFiles, 'the server’s database');
  await expectAbsent(phone.token, relayFiles, 'the relay’s database');
  narrator.step('The server forwards the sealed registration; the relay alone can open it.', {
    'the relay': 'opened it, and keeps the token encrypted',
    'the server': 'got only a name for the token: its database does not hold the token itself',
    'the phone': status.sentence,
  });

  return narrateMessage(phone, { vendorsUrl, relayFiles }, message, narrator);
}

async function narrateMessage(
  phone: JourneyPhone,
  { vendorsUrl, relayFiles }: Omit<JourneyUrls, 'serverFiles'>,
  message: JourneyMessage,
  narrator: Narrator,
): Promise<number> {
  const messageId = await message.send();
  const delivery = await firstDeliveryTo(phone.token, vendorsUrl, deliveryTimeoutMilliseconds);
  const { data } = delivery.body.message;
  const opened = await phone.client.open(data);
  expectThat(opened.kind === 'notification', 'the phone could not open the notification');
  const notification = (opened as { notification: Notification }).notification;
  expectThat(
    notification.type === 'message' && notification.message_id === messageId,
    'the phone was notified of something other than the message',
  );
  await expectAbsent(notification.realm_url, relayFiles, 'the relay’s database');
  await expectAbsent(message.content, relayFiles, 'the relay’s database');
  narrator.step('The owner mentions the phone’s user in a channel; the server encrypts that for the phone.', {
    'the owner': `wrote ${JSON.stringify(message.content)}`,
    'the server': `wrote ${JSON.stringify(notification)} and encrypted it`,
    'the relay': `was handed ${shorten(data.encrypted_data ?? '')}, which it cannot open, and passed it on`,
    'Google’s stand-in': `was handed the same, for ${recipientOf(data)}, and delivered it`,
  });
  narrator.step('The phone opens the notification with the key that never left it.', {
    'the phone': `read: ${JSON.stringify(notification)}`,
  });
  return messageId;
}

function recipientOf({ push_key_id, push_account_id }: Readonly<Record<string, string>>): string {
  return push_key_id === undefined ? `account ${push_account_id}` : `key ${push_key_id}`;
}

/**
 * Runs the journey on a server without a relay. @throws Error unless the server returns PUSH_SERVICE_NOT_CONFIGURED.
 */
export async function makeJourneyWithoutRelay(phone: JourneyPhone, narrator: Narrator): Promise<void> {
  narrator.title('A phone meets a server without a relay');
  const status = await phone.registrar.sync();
  expectThat(
    status.code === 'not-configured' && status.errorCode === 'PUSH_SERVICE_NOT_CONFIGURED',
    `the registration is ${status.code}: ${status.sentence}`,
  );
  narrator.step('The phone seals its token and registers; the server refuses, since it has no relay.', {
    'the server': `answered ${status.errorCode}`,
    'the phone': status.sentence,
  });
}

async function expectAbsent(secret: string, files: readonly string[], where: string): Promise<void> {
  const found = await filesContaining(secret, files);
  expectThat(found.length === 0, `${where} contains a secret that it must never contain`);
}

function expectThat(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
