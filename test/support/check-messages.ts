import type { Kysely } from 'kysely';
import type { ServerTables } from '#server/tables.js';

/**
 * Checks that all rows about messages are consistent. Returns one sentence per problem. Covers messages and their
 * histories, topics and their folded names, copies and references without a message, and each channel's first message.
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
      if (!known.has(message_id)) problems.push(`there is an ${what} of the missing message ${message_id}`);
  }
  for (const message of messages) {
    const own = edits.filter(({ message_id }) => message_id === message.id);
    problems.push(...historyProblems(message, own).map((problem) => `message ${message.id}: ${problem}`));
    if (message.topic_lower !== message.topic.toLowerCase())
      problems.push(`message ${message.id}: its topic is not found by its name`);
  }
  for (const { id, first_message_id } of channels) {
    const first = messages.find(({ channel_id }) => channel_id === id)?.id ?? null;
    if (first !== first_message_id)
      problems.push(`channel ${id} begins with ${first} and says ${first_message_id}`);
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
    if (edit.topic !== null && edit.topic !== topic) problems.push(`went to ${edit.topic}, is in ${topic}`);
    if (edit.channel_id !== null && edit.channel_id !== channelId)
      problems.push(`went to channel ${edit.channel_id}, is in ${channelId}`);
    if ((edit.topic === null) !== (edit.prev_topic === null)) problems.push('has half a change of topic');
    if (edit.topic !== null && edit.topic === edit.prev_topic) problems.push('has a change that is none');
    if (edit.prev_content === null && edit.prev_topic === null && edit.prev_channel_id === null)
      problems.push('has an edit that changed nothing');
    topic = edit.prev_topic ?? topic;
    channelId = edit.prev_channel_id ?? channelId;
    content = edit.prev_content ?? content;
  }
  const lastEdit = newestFirst.find(({ prev_content }) => prev_content !== null);
  if ((lastEdit?.edited_at ?? null) !== message.last_edited_at) problems.push('was edited at another time');
  if (content.length === 0) problems.push('began as nothing');
  return problems;
}
