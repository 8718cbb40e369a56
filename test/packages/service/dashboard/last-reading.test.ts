import { LastReading } from '@waxwing/service/dashboard';
import { DatabaseUnavailableError } from '@waxwing/storage';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.useRealTimers();
});

it('the last reading is used if the database fails its check, or fails or hangs after the check', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const last = new LastReading('nothing yet');
  const read = (reading: () => Promise<string>) => last.read({ database: undefined }, reading);
  const isNotCalled = async () => expect.unreachable();
  expect(await last.read({ database: 'it is away' }, isNotCalled)).toBe('nothing yet');
  expect(await read(async () => 'figures')).toBe('figures');
  expect(await last.read({ database: 'it is away' }, isNotCalled)).toBe('figures');
  expect(await read(() => Promise.reject(new DatabaseUnavailableError('Gone.')))).toBe('figures');
  await expect(read(() => Promise.reject(new Error('odd')))).rejects.toThrow('odd');
  const hanging = read(() => new Promise(() => undefined));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await hanging).toBe('figures');
  expect(await read(async () => 'new figures')).toBe('new figures');
});
