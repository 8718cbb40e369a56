import { describe, expect, it } from 'vitest';
import { DeathShare } from '#relay/deliveries/breakers/death-share.js';

describe('the usual share of dead tokens', () => {
  it('is updated only while deletions are not frozen', () => {
    const share = new DeathShare();
    const before = share.highestShare;
    const live = (): void => {
      for (let outcome = 0; outcome < 1000; outcome++) {
        if (outcome % 2 === 0) share.noteSent(0);
        else share.noteDead(undefined, 0);
      }
    };
    share.isFrozen = true;
    live();
    expect(share.highestShare).toBe(before);
    share.restart();
    live();
    expect(share.highestShare).toBeGreaterThan(before);
  });
});
