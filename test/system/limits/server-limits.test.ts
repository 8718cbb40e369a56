import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';
import { Door, expectLimit } from './limit.js';
import { serverInnerLimits } from './server-inner-limits.js';
import { serverLimits, serverSizeLimits } from './server-limits.js';
import { serverLineLimits, serverTransactionLimits } from './server-line-limits.js';
import { ServerUnderLimits } from './server-under-limits.js';

eachBackend((backend) => {
  describe('a server beyond one of its limits', () => {
    let server: ServerUnderLimits;
    beforeAll(async () => {
      server = await ServerUnderLimits.start(await backend.freshUrl());
    });
    afterAll(() => server.close());
    beforeEach(() => server.begin());

    const ofOne = backend.name === 'sqlite' ? serverSizeLimits : serverTransactionLimits;
    it.each([...serverLimits, ...serverLineLimits, ...ofOne, ...serverInnerLimits])(
      'responds as documented and keeps serving other clients: $id',
      (limit) => expectLimit(limit, server, new Door(server)),
    );
  });
});
