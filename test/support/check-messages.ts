import type { Kysely } from 'kysely';
import type { ServerTables } from '#server/tables.js';

/**
 * Checks that all rows related to messages are consistent, and returns one sentence per problem. Covers messages and
 * their histories, topics and their case-folded names, copies and references without a message, and each channel's
 * first message.
 */
export async function messageProblems(db: Kysely<ServerTables>): Promise<string[]> {
  const messages = await db.selectFrom('messages').selectAll().orderBy('id').execute();
  const edits = await db.selectFrom('message_edits').selectAll().orderBy('id', 'desc').execute();
  const copies = await db.selectFrom('user_messages').select(['message_id', 'user_id']).execute();
  const references = await db.selectFrom('attachment_messages').select('message_id').execute();
  const channels = await db.selectFrom('channels').selectAll().execute();
  const known = new Set(messages.map(({ id }) => id));
  const problems: string[] = [];
  for (const [what, rows] of [
    ['edit', edits],
    ['copy', copies],
    ['reference', references],
  ] as const) {
    for (const { message_id } of rows)
      if (!known.has(message_id))
        problems.push(`the ${what} of message ${message_id} exists, but not the message`);
  }
  for (const message of messages) {
    const own = edits.filter(({ message_id }) => message_id === message.id);
    problems.push(...historyProblems(message, own).map((problem) => `message ${message.id}: ${problem}`));
    if (message.topic_lower !== message.topic.toLowerCase())
      problems.push(`message ${message.id}: its case-folded topic does not match its topic`);
  }
  for (const { id, first_message_id } of channels) {
    const first = messages.find(({ channel_id }) => channel_id === id)?.id ?? null;
    if (first !== first_message_id)
      problems.push(
        `channel ${id} begins with message ${first}, but stores ${first_message_id} as its first`,
      );
  }
  return problems;
}

type Row = Awaited<ReturnType<typeof readOne>>;
type EditRow = Awaited<ReturnType<typeof readEdit>>;
const readOne = (db: Kysely<ServerTables>) => db.selectFrom('messages').selectAll().executeTakeFirstOrThrow();
const readEdit = (db: Kysely<ServerTables>) =>
  db.selectFrom('message_edits').selectAll().executeTakeFirstOrThrow();

/** Walks back from the current message, and checks that each edit leads to the state after it. */
function historyProblems(message: Row, newestFirst: readonly EditRow[]): string[] {
  const problems: string[] = [];
  let { topic, channel_id: channelId, content } = message;
  for (const edit of newestFirst) {
    if (edit.topic !== null && edit.topic !== topic)
      problems.push(`an edit moved it to ${edit.topic}, but it is in ${topic}`);
    if (edit.channel_id !== null && edit.channel_id !== channelId)
      problems.push(`an edit moved it to channel ${edit.channel_id}, but it is in ${channelId}`);
    if ((edit.topic === null) !== (edit.prev_topic === null))
      problems.push('an edit has only one of topic and prev_topic');
    if (edit.topic !== null && edit.topic === edit.prev_topic)
      problems.push('an edit changes its topic to the same topic');
    if (edit.prev_content === null && edit.prev_topic === null && edit.prev_channel_id === null)
      problems.push('an edit changed nothing');
    topic = edit.prev_topic ?? topic;
    channelId = edit.prev_channel_id ?? channelId;
    content = edit.prev_content ?? content;
  }
  const lastEdit = newestFirst.find(({ prev_content }) => prev_content !== null);
  if ((lastEdit?.edited_at ?? null) !== message.last_edited_at)
    problems.push('last_edited_at is not the time of its last edit');
  if (content.length === 0) problems.push('its first version is empty');
  return problems;
}
