import { describe, expect, it } from 'vitest';
import { timeToFollow } from '../../../packages/client/src/time-to-follow.js';

const day = 86_400_000;
const device = Date.UTC(2026, 10, 20, 12);

describe('The time that a phone goes by', () => {
  it.each([
    ['a day ahead', day, true],
    ['a day behind', -day, true],
    ['more than a day behind', -day - 1, false],
  ])('is the server’s when that is %s of the phone’s', (_, ahead, clocksAgree) => {
    const server = device + ahead;
    expect(timeToFollow({ device, server, keyListIssuedAt: undefined })).toEqual({
      now: server,
      clocksAgree,
      isServerTime: true,
    });
  });

  it('is the phone’s own beyond a day ahead', () => {
    const server = device + day + 1;
    expect(timeToFollow({ device, server, keyListIssuedAt: undefined })).toEqual({
      now: device,
      clocksAgree: false,
      isServerTime: false,
    });
  });

  it.each([
    [2 * day, 2 * day, true],
    [2 * day, 2 * day + 1, false],
    [day + 1, day + 1, true],
    [2 * day, day, false],
    [7 * day, 2 * day, true],
    [7 * day + 1, 2 * day, false],
  ])('is a server’s %d ms ahead with a list signed %d ms ahead: %s', (ahead, issued, isFollowed) => {
    const { now } = timeToFollow({ device, server: device + ahead, keyListIssuedAt: device + issued });
    expect(now).toBe(isFollowed ? device + ahead : device);
  });
});
