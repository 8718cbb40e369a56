import type { SentRegistration } from '../accounts/sent-registration.js';
import type { BouncerKeyChoice, NoBouncerKey } from '../key-list/bouncer-key-choice.js';
import { dateRegistration, type FollowedTime, timeToFollow } from '../time-to-follow.js';
import type { RegistrarContext } from './registrar-context.js';

export function followedTime(
  { api, clock }: RegistrarContext,
  key: BouncerKeyChoice | NoBouncerKey,
): FollowedTime {
  const keyListIssuedAt = key.source === 'none' ? undefined : key.issuedAt;
  return timeToFollow({ device: clock(), server: api.serverClock.now(), keyListIssuedAt });
}

/** Returns the date of the next registration, in Unix seconds. */
export function dateAfter(sent: SentRegistration | undefined, time: FollowedTime, isRepeat: boolean): number {
  const before = sent === undefined ? undefined : sent.timestamp * 1000;
  return Math.floor(dateRegistration({ time, before, isRepeat }) / 1000);
}

export function clockWarning({ api, clock }: RegistrarContext): string {
  const [server, device] = [api.serverClock.now(), clock()].map((time) => new Date(time).toUTCString());
  return `The server's clock says ${server}, and the phone's clock says ${device}.`;
}
