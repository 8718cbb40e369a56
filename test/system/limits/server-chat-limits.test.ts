import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';
import { Door, expectLimit } from './limit.js';
import { serverChatLimits } from './server-chat-limits.js';
import { ServerUnderLimits } from './server-under-limits.js';
import { signInLimits } from './sign-in-limits.js';

const longPollTimeoutSeconds = 1;

eachBackend((backend) => {
  describe('a server beyond a limit of chat or sign-in', () => {
    let server: ServerUnderLimits;
    beforeAll(async () => {
      server = await ServerUnderLimits.start(await backend.freshUrl(), longPollTimeoutSeconds);
    });
    afterAll(() => server.close());
    beforeEach(() => server.begin());

    it.each([...serverChatLimits, ...signInLimits])(
      'responds as documented and keeps serving other clients: $id',
      (limit) => expectLimit(limit, server, new Door(server)),
    );
  });
});
