import { afterAll, beforeAll, expect, it } from 'vitest';
import { relayJobKinds } from '#relay/job-kinds.js';
import { sqliteBackend } from '../../support/test-databases.js';
import { type RelayUnderTest, startRelayUnderTest } from './relay-under-test.js';

let relay: RelayUnderTest;
beforeAll(async () => {
  relay = await startRelayUnderTest(await sqliteBackend().freshUrl());
});
afterAll(() => relay.close());

it('the list of job kinds for commands matches the job kinds that the relay handles', async () => {
  const kinds = (await relay.database.jobs.tally()).map(({ kind }) => kind);
  expect(kinds.sort()).toEqual([...relayJobKinds].sort());
});
