import { describe, expect, it } from 'vitest';
import { dateRegistration, timeToFollow } from '#client/time-to-follow.js';

const day = 86_400_000;
const device = Date.UTC(2026, 10, 20, 12);

describe('The time that a phone uses', () => {
  it.each([
    ['a day ahead', day],
    ['a day behind', -day],
  ])('is the server’s if the server’s clock is %s of the phone’s', (_, ahead) => {
    const server = device + ahead;
    expect(timeToFollow({ device, server, keyListIssuedAt: undefined })).toEqual({
      now: server,
      device,
      latest: device + day,
      clocksAgree: true,
      isServerTime: true,
    });
  });

  it.each([day + 1, -day - 1, 40 * day, -40 * day])(
    'is the phone’s own if the server’s clock is %d ms ahead',
    (ahead) => {
      expect(timeToFollow({ device, server: device + ahead, keyListIssuedAt: undefined })).toEqual({
        now: device,
        device,
        latest: device + day,
        clocksAgree: false,
        isServerTime: false,
      });
    },
  );

  it.each([
    [2 * day, 2 * day, true],
    [2 * day, 2 * day + 1, false],
    [day + 1, day + 1, true],
    [2 * day, day, false],
    [7 * day, 2 * day, true],
    [7 * day + 1, 2 * day, false],
  ])('is the server’s, %d ms ahead, with a list signed %d ms ahead: %s', (ahead, issued, isFollowed) => {
    const { now } = timeToFollow({ device, server: device + ahead, keyListIssuedAt: device + issued });
    expect(now).toBe(isFollowed ? device + ahead : device);
  });
});

describe('The date of a registration', () => {
  const time = (hours: number) =>
    timeToFollow({ device, server: device + hours * 3_600_000, keyListIssuedAt: undefined });

  it.each([-20, 0, 20])(
    'is the time that the phone uses, for a first registration: %d hours ahead',
    (hours) => {
      expect(dateRegistration({ time: time(hours), before: undefined, isRepeat: false })).toBe(
        device + hours * 3_600_000,
      );
    },
  );

  it('never goes back, unless no server can have caused the previous date', () => {
    const dated = (before: number) => dateRegistration({ time: time(-20), before, isRepeat: false });
    expect(dated(device + day)).toBe(device + day);
    expect(dated(device - day)).toBe(time(-20).now);
    expect(dated(device + day + 1)).toBe(time(-20).now);
  });

  it.each([
    [-20, 0],
    [20, 20],
  ])('is the later of the two clocks after a refusal: server %d hours ahead', (hours, dated) => {
    expect(dateRegistration({ time: time(hours), before: undefined, isRepeat: true })).toBe(
      device + dated * 3_600_000,
    );
  });
});
