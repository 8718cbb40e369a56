import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { Heard } from '../support/heard.js';
import { eachBackend, eachPostgres } from '../support/test-databases.js';

describe('a signal', () => {
  eachBackend((backend) => {
    it('reaches all listeners of its channel, and no others', async () => {
      const database = await backend.open({ migrations: [] });
      const [one, two, other] = [new Heard(), new Heard(), new Heard()];
      await database.signals.listen('birds', one.listener);
      await database.signals.listen('birds', two.listener);
      await database.signals.listen('stones', other.listener);
      const payload = `'"\\\n🐦${'"'.repeat(6900)}`;
      await database.write((transaction) => database.signals.notify(transaction, 'birds', payload));
      await database.write((transaction) => database.signals.notify(transaction, 'stones', 'end'));
      await other.until((all) => all.includes('end'));
      expect([one.all, two.all, other.all]).toEqual([[payload], [payload], ['end']]);
    });

    it('is not sent if the transaction is rolled back', async () => {
      const database = await backend.open({ migrations: [] });
      const heard = new Heard();
      await database.signals.listen('birds', heard.listener);
      const failing = database.write(async (transaction) => {
        await database.signals.notify(transaction, 'birds', 'no');
        throw new Error('rolled back');
      });
      await expect(failing).rejects.toThrow('rolled back');
      await database.write((transaction) => database.signals.notify(transaction, 'birds', 'yes'));
      await heard.until((all) => all.includes('yes'));
      expect(heard.all).toEqual(['yes']);
    });

    it('does not reach stopped listeners, and reaches all others even if one of them throws', async () => {
      const errors: unknown[] = [];
      const database = await backend.open({ migrations: [], onJobError: (error) => errors.push(error) });
      const [gone, last] = [new Heard(), new Heard()];
      const stop = await database.signals.listen('birds', gone.listener);
      await database.signals.listen('birds', () => {
        throw new Error('deaf');
      });
      await database.signals.listen('birds', last.listener);
      stop();
      await database.write((transaction) => database.signals.notify(transaction, 'birds', 'a'));
      await last.until((all) => all.length === 1);
      expect([gone.all, last.all, errors]).toEqual([[], ['a'], [new Error('deaf')]]);
    });

    it('reaches the serving process from a command, unless the transaction is rolled back', async () => {
      const url = await backend.freshUrl();
      const serving = await backend.open({ migrations: [], url });
      const command = await backend.open({ migrations: [], url, role: 'visiting' });
      const heard = new Heard();
      await serving.signals.listen('birds', heard.listener);
      const send = (payload: string) =>
        command.write(async (transaction) => {
          await command.signals.notify(transaction, 'stones', payload);
          await command.signals.notify(transaction, 'birds', payload);
          if (payload === 'no') throw new Error('rolled back');
        });
      const counter = async () =>
        (await sql<{ user_version: number }>`pragma user_version`.execute(command.db)).rows[0]?.user_version;
      await expect(send('no')).rejects.toThrow('rolled back');
      if (backend.name === 'sqlite') expect(await counter()).toBe(0);
      for (const [index, payload] of ['a', 'b'].entries()) {
        await send(payload);
        await heard.until((all) => all.length > index);
        if (backend.name === 'sqlite') expect(await counter()).toBe(index + 1);
      }
      // On SQLite, other processes get the signal without its payload.
      expect(heard.all).toEqual(backend.name === 'sqlite' ? [undefined, undefined] : ['a', 'b']);
    });

    it('is rejected if one of the backends could not deliver it', async () => {
      const database = await backend.open({ migrations: [] });
      const sending = database.write((transaction) =>
        database.signals.notify(transaction, 'birds', 'x'.repeat(7001)),
      );
      await expect(sending).rejects.toThrow('at most 7000');
      for (const [channel, payload] of [
        ['two words', ''],
        ['birds', 'a\0b'],
      ] as const) {
        const refused = database.write((transaction) =>
          database.signals.notify(transaction, channel, payload),
        );
        await expect(refused).rejects.toThrow(RangeError);
      }
    });
  });

  eachPostgres((backend) => {
    it('is sent without waiting for the disk, and leaves other commits durable', async () => {
      const database = await backend.open({ migrations: [], connections: 2 });
      const heard = new Heard();
      await database.signals.listen('birds', heard.listener);
      const waits = () => sql<{ setting: string }>`show synchronous_commit`.execute(database.db);
      const before = await waits();
      for (const payload of ['a', 'b', 'c']) {
        await database.write((transaction) => database.signals.notify(transaction, 'birds', payload));
        await heard.until((all) => all.includes(payload));
        const both = await Promise.all([waits(), waits()]);
        expect(both.map(({ rows }) => rows)).toEqual([before.rows, before.rows]);
      }
    });

    it('reaches listeners in other processes', async () => {
      const url = await backend.freshUrl();
      const [here, there] = [
        await backend.open({ migrations: [], url }),
        await backend.open({ migrations: [], url }),
      ];
      const heard = new Heard();
      await there.signals.listen('birds', heard.listener);
      await here.write((transaction) => here.signals.notify(transaction, 'birds', 'a'));
      await heard.until((all) => all.length === 1);
      expect(heard.all).toEqual(['a']);
    });
  });
});
