import { createProgress } from '@waxwing/service/command-line';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

describe('the progress of a command', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function watched() {
    const said: string[] = [];
    return { said, progress: createProgress((text) => void said.push(text)) };
  }

  it('is a single line after two seconds, even for a long command', () => {
    const { said, progress } = watched();
    progress.begin('waxwing-relay keys move');
    vi.advanceTimersByTime(1999);
    expect(said).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(said).toEqual(['waxwing-relay keys move is still running …']);
    vi.advanceTimersByTime(600_000);
    expect(said).toHaveLength(1);
  });

  it('is empty for a short command', () => {
    const { said, progress } = watched();
    progress.begin('waxwing-relay keys move');
    vi.advanceTimersByTime(1999);
    progress.end();
    vi.advanceTimersByTime(600_000);
    expect(said).toEqual([]);
  });

  it('pauses while the user answers a question, and restarts afterwards', async () => {
    const { said, progress } = watched();
    progress.begin('waxwing-relay keys move');
    let answer: (yes: boolean) => void = () => undefined;
    const asked = progress.asking(
      new Promise<boolean>((resolve) => {
        answer = resolve;
      }),
    );
    vi.advanceTimersByTime(600_000);
    expect(said).toEqual([]);
    answer(true);
    expect(await asked).toBe(true);
    vi.advanceTimersByTime(2000);
    expect(said).toHaveLength(1);
  });
});
