import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';
import { Door, expectLimit } from './limit.js';
import { serverLimits, serverSizeLimits } from './server-limits.js';
import { ServerUnderLimits } from './server-under-limits.js';

eachBackend((backend) => {
  describe('beyond a limit, a server answers as docs/limits.md says, serves others, and holds nothing afterwards', () => {
    let server: ServerUnderLimits;
    beforeAll(async () => {
      server = await ServerUnderLimits.start(await backend.freshUrl());
    });
    afterAll(() => server.close());
    beforeEach(() => server.begin());

    // What a message may hold is judged before the database is asked.
    const others = backend.name === 'sqlite' ? serverSizeLimits : [];
    it.each([...serverLimits, ...others])('$id', (limit) => expectLimit(limit, server, new Door(server)));
  });
});
