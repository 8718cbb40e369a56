import { createProgress } from '@waxwing/service/command-line';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

describe('the progress of a command', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function watched() {
    const said: string[] = [];
    return { said, progress: createProgress((text) => void said.push(text)) };
  }

  it('is one line after two seconds, however long the command goes on', () => {
    const { said, progress } = watched();
    progress.begin('waxwing-relay keys move');
    vi.advanceTimersByTime(1999);
    expect(said).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(said).toEqual(['waxwing-relay keys move is still at work …']);
    vi.advanceTimersByTime(600_000);
    expect(said).toHaveLength(1);
  });

  it('is nothing when the command ends before', () => {
    const { said, progress } = watched();
    progress.begin('waxwing-relay keys move');
    vi.advanceTimersByTime(1999);
    progress.end();
    vi.advanceTimersByTime(600_000);
    expect(said).toEqual([]);
  });

  it('does not interrupt a person who thinks about a question, and starts again with the answer', async () => {
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
