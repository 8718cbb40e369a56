import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const path = 'realm/playgrounds';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let name: string;
  beforeEach(() => {
    name = organisation.newName();
  });

  const good = () => ({
    name,
    highlighter_language: 'Python',
    url_template: 'https://python.example.com/run{?code}',
  });

  async function listed(): Promise<unknown[]> {
    return (await organisation.do('guest', 'GET', path)).realm_playgrounds as unknown[];
  }

  async function add(fields: Record<string, unknown> = {}): Promise<number> {
    return (await organisation.do('owner', 'POST', path, { ...good(), ...fields })).id as number;
  }

  describe('adding a playground', () => {
    it('returns the id, and publishes all playgrounds to all users and in the register response', async () => {
      const events = await organisation.watch();
      const answer = await organisation.do('administrator', 'POST', path, good());
      const { url_template } = good();
      const { id } = answer;
      expect(answer).toEqual({ result: 'success', msg: '', id: expect.any(Number) });
      const playgrounds = await listed();
      expect(playgrounds.at(-1)).toEqual({ id, name, pygments_language: 'Python', url_template });
      expect(await events()).toEqual([{ type: 'realm_playgrounds', realm_playgrounds: playgrounds }]);
      const asked = { fetch_event_types: '["realm_playgrounds"]', event_types: '[]' };
      const state = await organisation.do('guest', 'POST', 'register', asked);
      expect(state.realm_playgrounds).toEqual(playgrounds);
    });

    it('also accepts the language under its legacy parameter name', async () => {
      const { highlighter_language: _, ...fields } = good();
      const { ignored_parameters_unsupported: ignored } = await organisation.do('owner', 'POST', path, {
        ...fields,
        pygments_language: 'Rust',
      });
      expect(ignored).toBeUndefined();
      expect((await listed()).at(-1)).toMatchObject({ name, pygments_language: 'Rust' });
    });

    it('ignores the legacy URL prefix, and reports it as ignored', async () => {
      const answer = await organisation.do('owner', 'POST', path, {
        ...good(),
        url_prefix: 'https://x.example/',
      });
      expect(answer.ignored_parameters_unsupported).toEqual(['url_prefix']);
    });

    it.each([
      ['python', 'Python'],
      ['PY', 'Python'],
      ['javascript', 'JavaScript'],
      ['cpp', 'C++'],
      [' Rust ', 'Rust'],
      [' Zig ', 'Zig'],
      ['PL/pgSQL', 'PL/pgSQL'],
      ['no lexer of ours', 'no lexer of ours'],
      ['x'.repeat(40), 'x'.repeat(40)],
    ])('stores the language %j under its name in the HTML of code blocks', async (word, language) => {
      await add({ highlighter_language: word });
      expect((await listed()).at(-1)).toMatchObject({ pygments_language: language });
    });

    it('accepts several playgrounds for one language, and one name for several languages', async () => {
      await add();
      await add({ highlighter_language: 'JavaScript' });
      await add({ name: name.toUpperCase() });
    });

    it('trims the name, and refuses a duplicate for the same language under any of its names', async () => {
      await add({ name: `  ${name} ` });
      const before = await listed();
      const again = { ...good(), highlighter_language: 'py' };
      const { status, body } = await organisation.ask('owner', 'POST', path, again);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(body.errors).toEqual({ __all__: [body.msg] });
      expect(await listed()).toEqual(before);
    });

    it('succeeds for only one of several concurrent requests with the same name', async () => {
      const answers = await Promise.all([1, 2, 3].map(() => organisation.ask('owner', 'POST', path, good())));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    });

    it('is allowed only for administrators', async () => {
      const before = await listed();
      for (const who of ['moderator', 'member', 'guest', 'bot'] as const) {
        const { status, body } = await organisation.ask(who, 'POST', path, good());
        expect([who, status, body.code]).toEqual([who, 400, 'UNAUTHORIZED_PRINCIPAL']);
      }
      expect(await listed()).toEqual(before);
    });
  });

  describe('a new playground', () => {
    it.each(['name', 'highlighter_language', 'url_template'])(
      'is refused without side effects if %s is missing',
      async (missing) => {
        const before = await listed();
        const { [missing]: _, ...fields } = good() as Record<string, string>;
        const { status, body } = await organisation.ask('owner', 'POST', path, fields);
        expect([status, body.code, body.var_name]).toEqual([400, 'REQUEST_VARIABLE_MISSING', missing]);
        expect(await listed()).toEqual(before);
      },
    );

    it.each([
      ['name', '', 'name'],
      ['name', ' \t ', 'name'],
      ['name', 'x'.repeat(101), 'name'],
      ['highlighter_language', '', 'pygments_language'],
      ['highlighter_language', ' ', 'pygments_language'],
      ['highlighter_language', 'x'.repeat(41), 'pygments_language'],
      ['highlighter_language', '<script>', 'pygments_language'],
      ['url_template', '', 'url_template'],
      ['url_template', 'javascript:{code}', 'url_template'],
      ['url_template', 'https://x.example/', '__all__'],
      ['url_template', 'https://x.example/{code}{?lang}', '__all__'],
    ])('is refused without side effects if %s is %j', async (parameter, value, field) => {
      const before = await listed();
      const events = await organisation.watch();
      const { status, body } = await organisation.ask('owner', 'POST', path, {
        ...good(),
        [parameter]: value,
      });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(body.errors).toEqual({ [field]: [body.msg] });
      expect([await listed(), await events()]).toEqual([before, []]);
    });

    it('is refused with the errors of all its fields', async () => {
      const wrong = { name: '', highlighter_language: '?', url_template: '{' };
      const { body } = await organisation.ask('owner', 'POST', path, wrong);
      expect(body.errors).toEqual({
        name: ['Name cannot be blank.'],
        pygments_language: [
          'A language name must have 1 to 40 characters: letters, digits, spaces and any of _ + , - . / #',
        ],
        url_template: ['Invalid URL template.'],
      });
      expect(body.msg).toBe((body.errors as { name: string[] }).name[0]);
    });
  });

  describe('removing a playground', () => {
    it('publishes the remaining playgrounds to all clients', async () => {
      const id = await add();
      const before = await listed();
      const events = await organisation.watch();
      await organisation.do('administrator', 'DELETE', `${path}/${id}`);
      expect(await listed()).toEqual(before.slice(0, -1));
      expect(await events()).toEqual([{ type: 'realm_playgrounds', realm_playgrounds: before.slice(0, -1) }]);
      const again = await organisation.ask('administrator', 'DELETE', `${path}/${id}`);
      expect([again.status, again.body.code]).toEqual([400, 'BAD_REQUEST']);
    });

    it('is allowed only for administrators', async () => {
      const id = await add();
      const before = await listed();
      for (const who of ['moderator', 'member', 'guest', 'bot'] as const) {
        const { status, body } = await organisation.ask(who, 'DELETE', `${path}/${id}`);
        expect([who, status, body.code]).toEqual([who, 400, 'UNAUTHORIZED_PRINCIPAL']);
      }
      expect(await listed()).toEqual(before);
    });

    it.each(['0', '-1', '999999', 'abc', '1.5'])('refuses the id %s', async (id) => {
      const before = await listed();
      const { status, body } = await organisation.ask('owner', 'DELETE', `${path}/${id}`);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(await listed()).toEqual(before);
    });
  });
});
