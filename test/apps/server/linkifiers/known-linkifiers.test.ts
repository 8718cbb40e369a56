import type { SignalListener, Signals } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { describe, expect, it } from 'vitest';
import { KnownLinkifiers } from '#server/content/linkifiers/known-linkifiers.js';
import { insertLinkifier } from '#server/content/linkifiers/linkifier-store.js';
import { bareLinkifier } from '#server/content/linkifiers/plan-linkifier.js';
import { type ServerDatabase, type ServerTables, serverMigrations } from '#server/tables.js';
import { Heard } from '../../../support/heard.js';
import { eachBackend, eachPostgres, type TestBackend } from '../../../support/test-databases.js';

const second = 1000;

/** Simulates a process that dies right after its commit. */
const silent: Signals = { notify: async () => undefined, listen: async () => () => undefined };

class World {
  now = 0;
  statements = 0;
  readonly database: ServerDatabase;
  readonly known: KnownLinkifiers;
  readonly watched: Kysely<ServerTables>;
  /** Called after a statement has read its rows and before they are cached. */
  meanwhile: () => Promise<unknown> = async () => undefined;

  constructor(database: ServerDatabase, open: (clock: () => number) => KnownLinkifiers) {
    this.database = database;
    this.known = open(() => this.now);
    this.watched = database.db.withPlugin({
      transformQuery: ({ node }) => {
        this.statements += 1;
        return node;
      },
      transformResult: async ({ result }) => {
        await this.meanwhile();
        return result;
      },
    });
  }

  async add(pattern: string, known = this.known): Promise<void> {
    await this.database.write(async (transaction) => {
      await insertLinkifier(transaction.db, { pattern, url_template: 'https://a.example', ...bareLinkifier });
      await known.noteChange(transaction);
    });
  }

  async count(): Promise<number> {
    return (await this.known.read(this.watched)).length;
  }
}

async function newWorld(backend: TestBackend): Promise<World> {
  const database = await backend.open<ServerTables>({ migrations: serverMigrations });
  return new World(database, (clock) => new KnownLinkifiers(database.signals, clock));
}

describe('the linkifier cache of a process', () => {
  eachBackend((backend) => {
    it('reads linkifiers once, and again after a change in this process', async () => {
      const world = await newWorld(backend);
      expect([await world.count(), await world.count(), world.statements]).toEqual([0, 0, 1]);
      await world.add('a');
      expect([await world.count(), await world.count(), world.statements]).toEqual([1, 1, 2]);
    });

    it('does not reload after a rolled-back change', async () => {
      const world = await newWorld(backend);
      await world.count();
      const failing = world.database.write(async (transaction) => {
        await world.known.noteChange(transaction);
        throw new Error('rolled back');
      });
      await expect(failing).rejects.toThrow('rolled back');
      expect([await world.count(), world.statements]).toEqual([0, 1]);
    });

    it('reloads after ten seconds in case a signal was lost, and compiles each linkifier once', async () => {
      const world = await newWorld(backend);
      await world.add('a');
      const [before] = await world.known.read(world.watched);
      await world.add('b', new KnownLinkifiers(silent, () => 0));
      world.now = 10 * second - 1;
      expect(await world.count()).toBe(1);
      world.now = 10 * second;
      const [after, ...others] = await world.known.read(world.watched);
      expect([after === before, others.length]).toEqual([true, 1]);
    });

    it('does not keep a result that a concurrent change made stale', async () => {
      const world = await newWorld(backend);
      let isFirst = true;
      world.meanwhile = async () => {
        if (isFirst) await world.add('a');
        isFirst = false;
      };
      expect([await world.count(), await world.count()]).toEqual([0, 1]);
    });
  });

  eachPostgres((backend) => {
    it('reloads when another process has changed linkifiers or a signal may have been lost', async () => {
      const here = await newWorld(backend);
      const tells: SignalListener[] = [];
      const signals = {
        ...silent,
        listen: (channel: string, listener: SignalListener) => {
          tells.push(listener);
          return here.database.signals.listen(channel, listener);
        },
      };
      const known = await KnownLinkifiers.open(signals, () => 0);
      const heard = new Heard();
      await here.database.signals.listen('linkifiers', heard.listener);
      expect(await known.read(here.watched)).toHaveLength(0);
      await here.add('a');
      await heard.until((all) => all.length === 1);
      expect(await known.read(here.watched)).toHaveLength(1);
      await here.add('b', new KnownLinkifiers(silent, () => 0));
      expect(await known.read(here.watched)).toHaveLength(1);
      for (const tell of tells) tell(undefined);
      expect(await known.read(here.watched)).toHaveLength(2);
      known.close();
      await here.add('c');
      await heard.until((all) => all.length === 2);
      expect(await known.read(here.watched)).toHaveLength(2);
    });
  });
});
