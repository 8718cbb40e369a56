import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';
import { Door, expectLimit } from './limit.js';
import { serverChatLimits } from './server-chat-limits.js';
import { ServerUnderLimits } from './server-under-limits.js';
import { signInLimits } from './sign-in-limits.js';

const longPollTimeoutSeconds = 1;

eachBackend((backend) => {
  describe('beyond a limit of sign-in or chat, a server answers as docs/limits.md says, serves others, and holds nothing afterwards', () => {
    let server: ServerUnderLimits;
    beforeAll(async () => {
      server = await ServerUnderLimits.start(await backend.freshUrl(), longPollTimeoutSeconds);
    });
    afterAll(() => server.close());
    beforeEach(() => server.begin());

    it.each([...serverChatLimits, ...signInLimits])('$id', (limit) =>
      expectLimit(limit, server, new Door(server)),
    );
  });
});
