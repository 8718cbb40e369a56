import { runServerCommand } from '@waxwing/server';
import type { Terminal } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  async function run(...words: string[]) {
    const [printed, said]: [string[], string[]] = [[], []];
    const terminal: Terminal = {
      environment: { SERVER_DATABASE: organisation.server.databaseUrl },
      clock: () => organisation.server.now,
      print: (text) => void printed.push(text),
      say: (text) => void said.push(text),
      ask: async () => undefined,
      readSecret: async () => new Secret(''),
    };
    const code = await runServerCommand(['realm', ...words], terminal);
    return { code, printed: printed.join('\n'), said: said.join('\n') };
  }

  describe('realm settings', () => {
    it('prints every setting and permission with its default, required role and feature level', async () => {
      const { settings } = JSON.parse((await run('settings', '--json')).printed);
      expect(settings).toContainEqual({
        name: 'waiting_period_threshold',
        value: 0,
        default: 0,
        changed_by: 'owner',
        since: 1,
      });
      expect(settings).toContainEqual({
        name: 'can_resolve_topics_group',
        value: await organisation.roleGroup('everyone'),
        default: 'role:everyone',
        changed_by: 'administrator',
        since: 367,
      });
      expect((await run('settings')).printed).toContain('message_retention_days');
      const named = JSON.parse((await run('settings', 'RETENTION', '--json')).printed).settings;
      expect(named).toEqual(settings.filter(({ name }: { name: string }) => name.includes('retention')));
      expect(named.length).toBeGreaterThan(0);
      expect(JSON.parse((await run('settings', '--limit', '2', '--json')).printed).settings).toEqual(
        settings.slice(0, 2),
      );
    });
  });

  describe('realm set', () => {
    it('changes a setting while the server runs, and clients get an event', async () => {
      const events = await organisation.watch();
      const { code, printed } = await run('set', 'message_retention_days', '90', '--json');
      expect([code, JSON.parse(printed)]).toEqual([0, { name: 'message_retention_days', changed: true }]);
      const data = { message_retention_days: 90 };
      expect(await events()).toEqual([{ type: 'realm', op: 'update_dict', property: 'default', data }]);
      const again = await run('set', 'message_retention_days', '90');
      expect([again.code, again.printed]).toEqual([0, expect.stringContaining('nothing was changed')]);
    });

    it('accepts a group’s name or id, or a set of users and groups, as the value of a permission', async () => {
      const moderators = await organisation.roleGroup('moderators');
      const own = { direct_members: [organisation.id('second')], direct_subgroups: [] };
      for (const [text, value] of [
        ['role:moderators', moderators],
        [JSON.stringify(own), own],
        [String(moderators), moderators],
      ] as const) {
        expect((await run('set', 'can_create_groups', text)).code).toBe(0);
        const { realm_can_create_groups: now } = await organisation.do('guest', 'POST', 'register');
        expect(now).toEqual(value);
      }
    });

    it.each([
      ['no_such_setting', '1', 'There is no setting'],
      ['waiting_period_threshold', 'long', 'Invalid waiting_period_threshold'],
      ['message_retention_days', '0', 'message_retention_days'],
      ['can_create_groups', 'nobody-knows-it', 'There is no group'],
      ['can_create_groups', '999999', 'Invalid user group'],
      ['can_create_groups', 'role:everyone', 'cannot be set to'],
      ['can_access_all_users_group', '{"direct_members":[1],"direct_subgroups":[]}', 'system user group'],
    ])('explains what is wrong with %s %s, and changes nothing', async (name, value, sentence) => {
      const settings = async () => (await run('settings', '--json')).printed;
      const before = await settings();
      const { code, printed, said } = await run('set', name, value);
      expect([code, printed]).toEqual([1, '']);
      expect(said).toContain(sentence);
      expect(await settings()).toBe(before);
    });
  });

  describe('the hourly job', () => {
    it('makes users full members after the waiting period', async () => {
      const { server } = organisation;
      expect((await run('set', 'waiting_period_threshold', '1')).code).toBe(0);
      expect((await organisation.groups())['role:fullmembers']?.members).toEqual([]);
      server.now += 25 * 60 * 60_000;
      await server.settle();
      await expect
        .poll(async () => (await organisation.groups())['role:fullmembers']?.members)
        .toHaveLength(3);
    });
  });
});
