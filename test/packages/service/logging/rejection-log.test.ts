import { RejectionLog } from '@waxwing/service/logging';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMemoryLog } from '../../../support/memory-log.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const minute = 60_000;
const isError = (fault: string) => fault === 'relay-configuration';
const notConfigured = { reason: 'DELIVERY_NOT_CONFIGURED', fault: 'relay-configuration' } as const;
const badTopic = { reason: 'BadTopic', fault: 'registration' } as const;

describe('rejected notifications in the log', () => {
  it('get one line for the first rejection with a reason, and one per minute for all others', () => {
    const { log, lines } = createMemoryLog();
    const rejections = new RejectionLog(log, isError);
    expect(rejections.note(notConfigured, 1)).toBe(true);
    for (let device = 2; device <= 10_000; device += 1) {
      expect(rejections.note(notConfigured, device)).toBe(false);
    }
    rejections.note(badTopic, 7);
    const first = { level: 'error', device: 1, reason: 'DELIVERY_NOT_CONFIGURED' };
    const other = { level: 'info', device: 7, reason: 'BadTopic', fault: 'registration' };
    expect(lines()).toMatchObject([first, other]);
    vi.advanceTimersByTime(minute);
    const rest = { level: 'error', reason: 'DELIVERY_NOT_CONFIGURED', count: 9_999 };
    expect(lines().slice(2)).toMatchObject([rest]);
    vi.advanceTimersByTime(minute);
    expect(lines()).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
    rejections.note(badTopic, 8);
    expect(lines().slice(3)).toMatchObject([{ device: 8, reason: 'BadTopic' }]);
    rejections.flush();
  });

  it('are counted for each app', () => {
    const { log, lines } = createMemoryLog();
    const rejections = new RejectionLog(log, isError);
    for (const app of ['org.example.one', 'org.example.two', 'org.example.one']) {
      rejections.note({ ...badTopic, app }, 1);
    }
    rejections.flush();
    expect(lines()).toMatchObject([
      { app: 'org.example.one' },
      { app: 'org.example.two' },
      { app: 'org.example.one', count: 1 },
    ]);
  });

  it('get few lines even if a vendor invents reasons', () => {
    const { log, lines } = createMemoryLog();
    const rejections = new RejectionLog(log, isError);
    for (let count = 0; count < 1000; count += 1) {
      rejections.note({ reason: `Reason${count}`, fault: 'vendor' }, 1);
    }
    expect(lines()).toHaveLength(101);
    rejections.flush();
    expect(lines().slice(101)).toMatchObject([{ reason: 'other', count: 899 }]);
  });
});
