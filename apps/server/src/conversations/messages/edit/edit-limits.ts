import type { RealmSettingValues } from '../../../people/realm/realm-settings.js';
import { isAdministrator } from '../../../platform/authentication/require-administrator.js';
import { type Role, roles } from '../../../platform/authentication/roles.js';
import type { WantedMove } from './edit-request.js';

/** Tolerance added to time limits, for clock skew and network latency. */
const graceSeconds = 20;

/** Returns whether an age in milliseconds is within a limit in seconds. `null` means no limit. */
export function isWithin(limitSeconds: number | null, age: number): boolean {
  return limitSeconds === null || age <= (limitSeconds + graceSeconds) * 1000;
}

/** Returns whether the time limits for moving apply to a role. Administrators and moderators are exempt. */
export function isBoundByTime(role: Role): boolean {
  return !isAdministrator(role) && role !== roles.moderator;
}

/**
 * Returns the send time, in Unix milliseconds, after which messages are recent enough for this move. Returns
 * `undefined` if no time limit applies, such as when a topic is resolved.
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
