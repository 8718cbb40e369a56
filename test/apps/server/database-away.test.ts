import { afterEach, describe, expect, it } from 'vitest';
import { CuttableProxy } from '../../support/cuttable-proxy.js';
import { eachPostgres } from '../../support/test-databases.js';
import { turnAway } from '../../support/turn-away.js';
import { ServerUnderTest } from './server-under-test.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/**
 * Number of attempts to wait for. This takes a few seconds: the server polls for jobs and resends signals every second.
 */
const manyTries = 6;

describe('while the database is unreachable', () => {
  eachPostgres((backend) => {
    it('a server logs the outage once and the recovery once, however long jobs and signals wait', async () => {
      const url = new URL(await backend.freshUrl());
      const proxy = new CuttableProxy({ host: url.hostname, port: Number(url.port || 5432) });
      await proxy.open();
      closers.push(() => proxy.cut());
      url.host = `127.0.0.1:${proxy.port}`;
      const test = await ServerUnderTest.start({ databaseUrl: url.href });
      closers.push(() => test.close());
      await test.settle();
      const said = () =>
        test.logged.lines().flatMap(({ msg }) => (/job|database|background/.test(String(msg)) ? [msg] : []));
      expect(said()).toEqual([]);

      let cutting: Promise<void> | undefined;
      const { database } = test.server;
      await database.write(async (transaction) => {
        transaction.afterCommit(() => {
          cutting = proxy.cut();
        });
        await database.signals.notify(transaction, 'birds', 'tit');
      });
      await cutting;
      const closed = await turnAway(proxy.port, manyTries);
      const away = expect.stringMatching(
        /^the database is unavailable, and jobs and signals wait for it: The database does not answer: /,
      );
      expect(said()).toEqual([away]);
      await closed();
      await proxy.open();
      await expect.poll(said, { timeout: 20_000 }).toEqual([away, 'the database answers again']);
    });
  });
});
