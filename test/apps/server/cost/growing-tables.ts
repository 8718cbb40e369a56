/**
 * Tables that are larger in the large organization. Scans of other tables are cheap, because they have only a few
 * pages.
 */
export const growingTables = [
  ...['users', 'subscriptions', 'channels', 'messages', 'user_messages', 'event_queues'],
  ...['user_groups', 'user_group_members', 'permissions', 'conversations'],
];

/** Tables that grow with users, messages and groups in practice. */
export const tablesThatGrow = [
  ...growingTables,
  ...['message_edits', 'user_topics', 'conversation_participants', 'user_group_subgroups'],
  ...['queued_events', 'event_texts', 'push_devices', 'sign_in_keys', 'user_settings', 'attachment_messages'],
];
