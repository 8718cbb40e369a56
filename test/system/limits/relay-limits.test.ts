import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';
import { Door, expectLimit } from './limit.js';
import { operatorLimits, readinessLimits } from './operator-limits.js';
import { relayInnerLimits, relayMemoryLimits } from './relay-inner-limits.js';
import { relayLimits, relaySizeLimits } from './relay-limits.js';
import { RelayUnderLimits } from './relay-under-limits.js';

eachBackend((backend) => {
  describe('beyond a limit, a relay answers as docs/limits.md says, serves others, and holds nothing afterwards', () => {
    let relay: RelayUnderLimits;
    beforeAll(async () => {
      relay = await RelayUnderLimits.start(await backend.freshUrl());
    });
    afterAll(() => relay.close());
    beforeEach(() => relay.pass());

    const ofDatabase = [...relayLimits, ...relayInnerLimits, ...readinessLimits];
    const ofNone =
      backend.name === 'sqlite' ? [...relaySizeLimits, ...relayMemoryLimits, ...operatorLimits] : [];
    it.each([...ofDatabase, ...ofNone])('$id', (limit) => expectLimit(limit, relay, new Door(relay)));
  });
});
