import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RejectionLog } from '#relay/deliveries/attempts/rejection-log.js';
import { createMemoryLog } from '../../../support/memory-log.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const minute = 60_000;

describe('rejected notifications in the log', () => {
  it('are one line for the first of a reason, and one per minute for all further ones', () => {
    const { log, lines } = createMemoryLog();
    const rejections = new RejectionLog(log);
    for (let device = 1; device <= 10_000; device += 1) {
      rejections.note('DELIVERY_NOT_CONFIGURED', 'relay-configuration', device);
    }
    rejections.note('BadTopic', 'registration', 7);
    const first = { level: 'error', device: 1, reason: 'DELIVERY_NOT_CONFIGURED' };
    const other = { level: 'info', device: 7, reason: 'BadTopic', fault: 'registration' };
    expect(lines()).toMatchObject([first, other]);
    vi.advanceTimersByTime(minute);
    const rest = { level: 'error', reason: 'DELIVERY_NOT_CONFIGURED', count: 9_999 };
    expect(lines().slice(2)).toMatchObject([rest]);
    vi.advanceTimersByTime(minute);
    expect(lines()).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
    rejections.note('BadTopic', 'registration', 8);
    expect(lines().slice(3)).toMatchObject([{ device: 8, reason: 'BadTopic' }]);
    rejections.flush();
  });

  it('stay few when a vendor invents reasons', () => {
    const { log, lines } = createMemoryLog();
    const rejections = new RejectionLog(log);
    for (let count = 0; count < 1000; count += 1) rejections.note(`Reason${count}`, 'vendor', 1);
    expect(lines()).toHaveLength(101);
    rejections.flush();
    expect(lines().slice(101)).toMatchObject([{ reason: 'other', count: 899 }]);
  });
});
