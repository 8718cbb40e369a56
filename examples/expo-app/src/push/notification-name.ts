/** A notification that native code has shown: of a message, or of a payload. */
export interface ShownNotification {
  readonly realmOrigin: string;
  /** Decimal digits. */
  readonly userId: string;
  /** Decimal digits. */
  readonly messageId?: string;
  readonly payloadId?: string;
}

/** Reads the name that native code gives a notification: the account's owner, then the id of a message or payload. */
export function parseNotificationName(name: unknown): ShownNotification | undefined {
  if (typeof name !== 'string') return undefined;
  const [, realmOrigin, userId, payload, id] = /^(\S+) (\d+) (p?)(\S+)$/.exec(name) ?? [];
  if (realmOrigin === undefined || userId === undefined || id === undefined) return undefined;
  return payload === 'p' ? { realmOrigin, userId, payloadId: id } : { realmOrigin, userId, messageId: id };
}
