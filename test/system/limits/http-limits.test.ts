import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';
import { httpLimits } from './http-limits.js';
import { Door, expectLimit } from './limit.js';
import { RelayUnderLimits } from './relay-under-limits.js';

eachBackend((backend) => {
  describe('a listener beyond one of its limits', () => {
    let relay: RelayUnderLimits;
    beforeAll(async () => {
      relay = await RelayUnderLimits.start(await backend.freshUrl());
    });
    afterAll(() => relay.close());
    beforeEach(() => relay.pass());

    it.each(httpLimits)('responds as documented and keeps serving other clients: $id', async (limit) => {
      if (limit.http !== undefined) await relay.run(limit.http);
      await expectLimit(limit, relay, new Door(relay));
    });
  });
});
