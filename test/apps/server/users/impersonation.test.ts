import { beforeAll, describe, expect, it } from 'vitest';
import { addUser, letChangeAddresses } from '#server/membership/user-administration/manage-users.js';
import type { ServerTransaction } from '#server/tables.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { inserted, otherBlanks, otherLetters } from './spellings.js';

/** Some spellings of each kind. The tests of the rule itself cover all spellings. */
const spellings = Object.entries({
  'as it is': (text: string) => text,
  'upper case': otherLetters['upper case'],
  fullwidth: otherLetters.fullwidth,
  'mathematical bold script': otherLetters['mathematical bold script'],
  Cyrillic: otherLetters.Cyrillic,
  Greek: otherLetters.Greek,
  'an l for i': otherLetters['an l for i'],
  'a zero-width space': inserted['U+200b'],
  'a soft hyphen': inserted['U+ad'],
  'an override of direction': inserted['U+202a'],
  'combining marks': inserted['U+301'],
  'no blank': otherBlanks['""'],
  'a dot': otherBlanks['"."'],
}).map(([name, spell]) => [name, spell as (text: string) => string] as const);

/** Joining hashes a password, which is slow. */
const spellingsFor = (path: string) =>
  path === 'joining by a link'
    ? spellings.filter(([name]) => ['as it is', 'Cyrillic'].includes(name))
    : spellings;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const ask = organisation.ask.bind(organisation);
  let link: string;

  beforeAll(async () => {
    await letChangeAddresses(database(), 'owner@example.com', true);
    const { invite_link } = await organisation.do('owner', 'POST', 'invites/multiuse', {});
    link = new URL(String(invite_link)).pathname;
  });

  const database = () => organisation.server.server.database;
  const id = organisation.id.bind(organisation);
  const own = { fullName: 'Mallory', email: 'mallory@example.com' };

  async function patched(answer: ReturnType<typeof ask>): Promise<string> {
    const { status, body } = await answer;
    expect(status).toBe(400);
    return String(body.msg);
  }

  async function join({ fullName, email }: typeof own): Promise<string> {
    const fields = { full_name: fullName, email, password: 'correct horse' };
    const { statusCode, payload } = await organisation.server.server.app.inject({
      method: 'POST',
      url: link,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(fields).toString(),
    });
    expect(statusCode).toBe(400);
    return payload;
  }

  async function added({ fullName, email }: typeof own, isBot: boolean): Promise<string> {
    const administration = {
      clock: () => organisation.server.now,
      realm: { url: 'https://chat.example.com' },
    };
    const user = { fullName, email, role: 400, isBot, ownerEmail: undefined } as const;
    return addUser(database(), administration, user).then(
      ({ user: { email } }) => expect.fail(`added ${email}`),
      (error: Error) => error.message,
    );
  }

  /** Each way to set a user's name or address. Returns the error. */
  const pathsOfNames: Readonly<Record<string, (fullName: string) => Promise<string>>> = {
    'joining by a link': (fullName) => join({ ...own, fullName }),
    'users add': (fullName) => added({ ...own, fullName }, false),
    'users add --bot': (fullName) => added({ ...own, fullName }, true),
    'a guest’s own settings': (name) => patched(ask('guest', 'PATCH', 'settings', { full_name: name })),
    'an owner’s own settings': (name) => patched(ask('owner', 'PATCH', 'settings', { full_name: name })),
    'an administrator about a user': (name) =>
      patched(ask('administrator', 'PATCH', `users/${id('member')}`, { full_name: name })),
    'an administrator about a bot': (name) =>
      patched(ask('administrator', 'PATCH', 'users/bot@example.com', { full_name: name })),
  };
  const pathsOfAddresses: Readonly<Record<string, (email: string) => Promise<string>>> = {
    'joining by a link': (email) => join({ ...own, email }),
    'users add': (email) => added({ ...own, email }, false),
    'users add --bot': (email) => added({ ...own, email }, true),
    'an owner’s own settings': (email) => patched(ask('owner', 'PATCH', 'settings', { email })),
    'an owner about a user': (email) =>
      patched(ask('owner', 'PATCH', `users/${id('member')}`, { new_email: email })),
  };

  const people = async () => {
    const { members } = await organisation.do('owner', 'GET', 'users');
    return (members as Record<string, unknown>[]).map(({ full_name, delivery_email }) => [
      full_name,
      delivery_email,
    ]);
  };

  it.each(Object.keys(pathsOfNames))('the name of a system bot is refused for %s', async (path) => {
    const before = await people();
    for (const [, spell] of spellingsFor(path)) {
      const said = await pathsOfNames[path]?.(spell('Notification Bot'));
      expect(said).toMatch(
        /This name is reserved for the server(?:'|&#39;)s own bots|Invalid characters in name/,
      );
    }
    expect(await people()).toEqual(before);
  });

  it.each(Object.keys(pathsOfAddresses))(
    'a system bot’s address, and a lookalike of another user’s address, are refused for %s',
    async (path) => {
      const before = await people();
      for (const [name, spell] of spellingsFor(path)) {
        for (const address of [`${spell('welcome-bot')}@example.com`, `ada@${spell('system.invalid')}`]) {
          const said = await pathsOfAddresses[path]?.(address);
          expect(said, `${name}: ${address}`).toMatch(
            /is reserved for the server(?:'|&#39;)s own bots|characters that are invisible or look like others/,
          );
        }
      }
      for (const address of ['аdministrator@example.com', 'guest\u200b@example.com', 'guest@еxample.com']) {
        expect(await pathsOfAddresses[path]?.(address)).toContain('invisible or look like others');
      }
      expect(await people()).toEqual(before);
    },
  );

  describe('a user who already has such a name', () => {
    it('can keep it while other fields change', async () => {
      const userId = id('second');
      await database().write(({ db }: ServerTransaction) =>
        db.updateTable('users').set({ full_name: 'Welcome Bot' }).where('id', '=', userId).execute(),
      );
      await organisation.do('administrator', 'PATCH', `users/${userId}`, {
        full_name: 'Welcome Bot',
        role: 600,
      });
      await organisation.do('administrator', 'PATCH', `users/${userId}`, { full_name: 'Second' });
    });
  });
});
