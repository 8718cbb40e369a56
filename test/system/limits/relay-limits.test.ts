import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';
import { Door, expectLimit } from './limit.js';
import { operatorLimits, readinessLimits } from './operator-limits.js';
import { relayInnerLimits, relayMemoryLimits } from './relay-inner-limits.js';
import { relayLimits, relaySizeLimits } from './relay-limits.js';
import { RelayUnderLimits } from './relay-under-limits.js';

eachBackend((backend) => {
  describe('a relay beyond one of its limits', () => {
    let relay: RelayUnderLimits;
    beforeAll(async () => {
      relay = await RelayUnderLimits.start(await backend.freshUrl());
    });
    afterAll(() => relay.close());
    beforeEach(() => relay.pass());

    const ofDatabase = [...relayLimits, ...relayInnerLimits, ...readinessLimits];
    const ofNone =
      backend.name === 'sqlite' ? [...relaySizeLimits, ...relayMemoryLimits, ...operatorLimits] : [];
    it.each([...ofDatabase, ...ofNone])(
      'responds as documented and keeps serving other clients: $id',
      (limit) => expectLimit(limit, relay, new Door(relay)),
    );
  });
});
