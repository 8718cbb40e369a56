import type { UserId } from '@waxwing/protocol';
import type { ServerContext } from '../context.js';
import { sendMessages } from '../messages/insert-messages.js';
import { renderContents } from '../messages/render-content.js';
import { readRealmSetting } from '../realm/realm-setting-store.js';
import type { ServerTransaction } from '../tables.js';
import { systemBotId } from '../users/system-bots.js';

/**
 * Greets whoever is new by direct messages of the Welcome Bot: with the organisation's words where the invitation has none
 * of its own (`undefined`), and without any where it says so (empty).
 */
export async function sendWelcome(
  context: ServerContext,
  transaction: ServerTransaction,
  userId: UserId,
  invitationText: string | undefined,
): Promise<void> {
  const { db } = transaction;
  const { realm } = context;
  const text = invitationText ?? (await readRealmSetting(db, 'welcome_message_custom_text'));
  const contents = [`Hello, and welcome to ${plainName(realm.name)}!`];
  if (text !== '') {
    contents.push(`The @_*role:administrators* of this organization say:\n\n${quoted(text)}`);
  }
  const botId = await systemBotId(transaction, 'welcome-bot');
  const rendered = await renderContents(db, context, undefined, contents);
  const destination = { kind: 'direct', userIds: [botId, userId] } as const;
  await sendMessages(
    transaction,
    context,
    rendered.map((each, index) => ({
      senderId: botId,
      destination,
      content: contents[index] ?? '',
      rendered: each,
      client: 'Internal',
      readBy: [botId],
    })),
  );
}

/** A name that no Markdown is made of. */
function plainName(name: string): string {
  return name.replace(/[\\`*_{}[\]()#+!<>@~|$:]/g, '').trim() || 'this organization';
}

/** The fence is longer than any in the text, so that the quote ends where the text does. */
function quoted(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}quote\n${text}\n${fence}`;
}
