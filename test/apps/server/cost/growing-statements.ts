/** Statements that read more in a larger organization, which the comparison leaves out. */
export const growingStatements: readonly { readonly text: RegExp; readonly reason: string }[] = [
  {
    text: /from "?event_queues"? (cross join users )?where .*event_types/,
    reason: 'the event types of a queue are one text, so each event compares its type with all open queues',
  },
];
