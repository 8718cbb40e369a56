/** Statements that read more rows in a larger organization. The comparison excludes them. */
export const growingStatements: readonly { readonly text: RegExp; readonly reason: string }[] = [
  {
    text: /from "?event_queues"? (cross join users )?where .*event_types/,
    reason: 'the event types of a queue are one text, so each event compares its type with all open queues',
  },
];
