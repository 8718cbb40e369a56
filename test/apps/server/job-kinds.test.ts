import { afterAll, beforeAll, expect, it } from 'vitest';
import { serverJobKinds } from '#server/job-kinds.js';
import { ServerUnderTest } from './server-under-test.js';

let test: ServerUnderTest;
beforeAll(async () => {
  test = await ServerUnderTest.start();
});
afterAll(() => test.close());

it('commands know exactly the job kinds that the server handles', async () => {
  const kinds = (await test.server.database.jobs.tally()).map(({ kind }) => kind);
  expect(kinds.sort()).toEqual([...serverJobKinds].sort());
});
