import type { UserId } from '@waxwing/protocol';
import type { ServerContext } from '../../context.js';
import { sendMessages } from '../../conversations/messages/insert-messages.js';
import { renderContents } from '../../conversations/messages/render-content.js';
import { readRealmSetting } from '../../people/realm/realm-setting-store.js';
import { systemBotId } from '../../people/users/system-bots.js';
import type { ServerTransaction } from '../../tables.js';

/**
 * Sends a new user direct messages from the Welcome Bot. `invitationText` replaces the organization's welcome text.
 * `undefined` keeps the organization's text, and an empty string suppresses the text.
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

/** Removes Markdown's special characters from a name, so that it renders as plain text. */
function plainName(name: string): string {
  return name.replace(/[\\`*_{}[\]()#+!<>@~|$:]/g, '').trim() || 'this organization';
}

/** Quotes a text in Markdown. The fence is longer than any fence in the text, so that the text cannot end the quote. */
function quoted(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}quote\n${text}\n${fence}`;
}
