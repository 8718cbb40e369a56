import { isAdministrator } from '../../authentication/require-administrator.js';
import { type Role, roles } from '../../permissions/roles.js';
import type { RealmSettingValues } from '../../realm/realm-settings.js';
import type { WantedMove } from './edit-wish.js';

/** What somebody may take longer than a time limit says, as clocks differ and requests travel. */
const graceSeconds = 20;

/** Whether something of this age, in milliseconds, is within a limit; null for none. */
export function isWithin(limitSeconds: number | null, age: number): boolean {
  return limitSeconds === null || age <= (limitSeconds + graceSeconds) * 1000;
}

/** Whether time limits for moving bind somebody. */
export function isBoundByTime(role: Role): boolean {
  return !isAdministrator(role) && role !== roles.moderator;
}

/**
 * From when on, in Unix milliseconds, messages are young enough for this move; `undefined` where age does not count, as it
 * does not for the mark of a topic that is resolved.
 */
export function movableAfter(
  settings: RealmSettingValues,
  move: WantedMove,
  now: number,
): number | undefined {
  const { move_messages_within_stream_limit_seconds, move_messages_between_streams_limit_seconds } = settings;
  const limits = [
    move.isTopicChanged && move.resolution === undefined ? move_messages_within_stream_limit_seconds : null,
    move.channelId === undefined ? null : move_messages_between_streams_limit_seconds,
  ].filter((limit) => limit !== null);
  return limits.length === 0 ? undefined : now - (Math.min(...limits) + graceSeconds) * 1000;
}
