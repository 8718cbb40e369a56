import { openInOrder } from '@waxwing/service/lifecycle';
import { describe, expect, it } from 'vitest';

describe('resources that are opened in order', () => {
  it('are closed once, in reverse order', async () => {
    const closed: string[] = [];
    const opened = await openInOrder(async (closers) => {
      for (const name of ['database', 'ring', 'listener']) {
        closers.push(async () => void closed.push(name));
      }
      return { url: 'http://127.0.0.1:1' };
    });
    expect(opened.url).toBe('http://127.0.0.1:1');
    await opened.close();
    await opened.close();
    expect(closed).toEqual(['listener', 'ring', 'database']);
  });

  it('are closed if the next resource fails to open, and that error is thrown', async () => {
    const closed: string[] = [];
    const opening = openInOrder(async (closers) => {
      closers.push(async () => void closed.push('database'));
      closers.push(async () => void closed.push('ring'));
      throw new Error('the port is taken');
    });
    await expect(opening).rejects.toThrow('the port is taken');
    expect(closed).toEqual(['ring', 'database']);
  });
});
