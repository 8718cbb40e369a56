import { afterEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const capable = { client_capabilities: '{"notification_settings_null":true,"linkifier_url_template":true}' };
const issue = { pattern: '#(?P<id>[0-9]+)', url_template: 'https://tracker.example.com/{id}' };
const ticket = { pattern: 'T(?P<id>[0-9]+)', url_template: 'https://tickets.example.com/{id}' };
const mere = { pattern: 'moo', url_template: 'https://cow.example.com/' };
const bare = { example_input: null, reverse_template: null, alternative_url_templates: [] };
/** A linkifier with everything that clients need to turn a pasted URL back into text. */
const reversible = {
  ...issue,
  example_input: '#1234',
  reverse_template: '#{id}',
  alternative_url_templates: ['https://old-tracker.example.com/{id}'],
};

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  async function listed(): Promise<{ id: number }[]> {
    return (await organisation.do('guest', 'GET', 'realm/linkifiers')).linkifiers as { id: number }[];
  }

  async function add(fields: object = issue): Promise<number> {
    return (await organisation.do('owner', 'POST', 'realm/filters', { ...fields })).id as number;
  }

  /** Expects that the request is refused, changes nothing and publishes no event. */
  async function refused(method: 'POST' | 'PATCH' | 'DELETE', path: string, fields: object = {}) {
    const before = await listed();
    const events = await organisation.watch('guest', capable);
    const { status, body } = await organisation.ask('owner', method, path, { ...fields });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect([await listed(), await events()]).toEqual([before, []]);
    return body;
  }

  afterEach(async () => {
    for (const { id } of await listed()) await organisation.do('owner', 'DELETE', `realm/filters/${id}`);
  });

  describe('adding a linkifier', () => {
    it('returns its id, and publishes all linkifiers to all clients and in the register response', async () => {
      const first = { ...mere, ...bare, id: await add(mere) };
      const events = await organisation.watch('guest', capable);
      const answer = await organisation.do('administrator', 'POST', 'realm/filters', issue);
      expect(answer).toEqual({ result: 'success', msg: '', id: expect.any(Number) });
      const linkifiers = [first, { ...issue, ...bare, id: answer.id }];
      expect(await listed()).toEqual(linkifiers);
      expect(await events()).toEqual([{ type: 'realm_linkifiers', realm_linkifiers: linkifiers }]);
      const asked = { fetch_event_types: '["realm_linkifiers","realm_filters"]', event_types: '[]' };
      const state = await organisation.do('guest', 'POST', 'register', { ...asked, ...capable });
      expect(state).toMatchObject({ realm_linkifiers: linkifiers, realm_filters: [] });
    });

    it('is not published to clients without support for URL templates', async () => {
      const events = await organisation.watch('guest');
      await add();
      const asked = { fetch_event_types: '["realm_linkifiers"]', event_types: '[]' };
      const state = await organisation.do('guest', 'POST', 'register', asked);
      expect([state.realm_linkifiers, await events()]).toEqual([[], []]);
    });

    it('trims the pattern and the template', async () => {
      const id = await add({ pattern: ` ${issue.pattern}\n`, url_template: `\t${issue.url_template} ` });
      expect(await listed()).toEqual([{ ...issue, ...bare, id }]);
    });

    it('stores the example and templates for pasted URLs until a request empties them', async () => {
      const id = await add(reversible);
      expect(await listed()).toEqual([{ ...reversible, id }]);
      await organisation.do('owner', 'PATCH', `realm/filters/${id}`, issue);
      expect(await listed()).toEqual([{ ...reversible, id }]);
      const emptied = { example_input: '', reverse_template: ' ', alternative_url_templates: [] };
      await organisation.do('owner', 'PATCH', `realm/filters/${id}`, { ...issue, ...emptied });
      expect(await listed()).toEqual([{ ...issue, ...bare, id }]);
    });

    it('refuses an existing pattern, even in concurrent requests', async () => {
      const asked = [1, 2, 3].map(() => organisation.ask('owner', 'POST', 'realm/filters', issue));
      const answers = await Promise.all(asked);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
      const message = 'A linkifier with this pattern already exists.';
      const body = await refused('POST', 'realm/filters', {
        ...issue,
        url_template: 'https://b.example/{id}',
      });
      expect(body).toMatchObject({ msg: message, errors: { __all__: [message] } });
    });

    it('refuses more than 50 linkifiers', async () => {
      const rows = Array.from({ length: 49 }, (_, position) => ({
        pattern: `a${position}`,
        url_template: 'https://a.example',
        position,
      }));
      const { database } = organisation.server.server;
      await database.write(({ db }) => db.insertInto('linkifiers').values(rows).execute());
      await add();
      const body = await refused('POST', 'realm/filters', mere);
      expect(body.msg).toBe('There are already 50 linkifiers, which is the maximum.');
    });
  });

  describe('a new linkifier', () => {
    it.each([
      ['pattern', { pattern: '' }, 'Pattern cannot be blank.'],
      ['pattern', { pattern: 'a'.repeat(501) }, 'Pattern cannot exceed 500 characters.'],
      ['pattern', { pattern: 'a{1,300}' }, 'Pattern is too complex.'],
      ['pattern', { pattern: '(' }, 'Bad regular expression: missing closing ).'],
      ['pattern', { pattern: 'a**' }, 'Bad regular expression: invalid nested repetition operator.'],
      ['url_template', { url_template: ' ' }, 'URL template cannot be blank.'],
      ['url_template', { url_template: 'https://a.example/{id' }, 'Invalid URL template.'],
      [
        'url_template',
        { url_template: `https://a.example/${'a'.repeat(2048)}{id}` },
        'URL template cannot exceed 2048 characters.',
      ],
      [
        '__all__',
        { url_template: 'https://a.example/{id}/{name}' },
        "Group 'name' in URL template is not present in linkifier pattern.",
      ],
      [
        '__all__',
        { url_template: 'https://a.example/' },
        "Group 'id' in linkifier pattern is not present in URL template.",
      ],
      ['reverse_template', { reverse_template: '#{id}' }, 'A reverse template needs an example input.'],
      ['example_input', { example_input: 'x#1' }, 'Example input does not match the pattern.'],
      [
        'example_input',
        { example_input: `#${'1'.repeat(500)}` },
        'Example input cannot exceed 500 characters.',
      ],
      [
        'reverse_template',
        { example_input: '#1', reverse_template: `${'{empty}'.repeat(100)}#{id}` },
        'Reverse template cannot exceed 500 characters.',
      ],
      [
        'reverse_template',
        { example_input: '#1', reverse_template: '{id}' },
        'Reverse template does not make the example input.',
      ],
      [
        'reverse_template',
        { example_input: '#1', reverse_template: '#{name}' },
        'Reverse template does not make the example input.',
      ],
      [
        'reverse_template',
        { example_input: '#1', reverse_template: '#{id' },
        'Reverse template does not make the example input.',
      ],
      [
        'reverse_template',
        { example_input: '#1', reverse_template: '{{{id}' },
        'Reverse template does not make the example input.',
      ],
      [
        'alternative_url_templates',
        { alternative_url_templates: ['https://a.example/{id'] },
        'Invalid URL template.',
      ],
      ['alternative_url_templates', { alternative_url_templates: [''] }, 'URL template cannot be blank.'],
      [
        'alternative_url_templates',
        { alternative_url_templates: Array.from({ length: 21 }, () => 'https://a.example/{id}') },
        'At most 20 alternative URL templates are allowed.',
      ],
    ])('is refused without side effects for its %s: %j', async (field, wrong, message) => {
      const body = await refused('POST', 'realm/filters', { ...issue, ...wrong });
      expect(body.msg).toEqual(message);
      expect(body.errors).toEqual({ [field]: [body.msg] });
    });

    it.each(['pattern', 'url_template'] as const)('is refused without %s', async (missing) => {
      const { [missing]: _, ...fields } = issue;
      const { status, body } = await organisation.ask('owner', 'POST', 'realm/filters', fields);
      expect([status, body.code, body.var_name]).toEqual([400, 'REQUEST_VARIABLE_MISSING', missing]);
    });
  });

  describe('changing a linkifier', () => {
    it('publishes all linkifiers to all clients, and keeps the position', async () => {
      const [first, second] = [await add(issue), await add(mere)];
      const events = await organisation.watch('guest', capable);
      await organisation.do('administrator', 'PATCH', `realm/filters/${first}`, ticket);
      const linkifiers = [
        { ...ticket, ...bare, id: first },
        { ...mere, ...bare, id: second },
      ];
      expect(await listed()).toEqual(linkifiers);
      expect(await events()).toEqual([{ type: 'realm_linkifiers', realm_linkifiers: linkifiers }]);
      await organisation.do('owner', 'PATCH', `realm/filters/${first}`, { ...ticket, ...mere, pattern: 'T' });
    });

    it('refuses the same values as for a new linkifier, and an unknown linkifier', async () => {
      const [first] = [await add(issue), await add(mere)];
      const bad = await refused('PATCH', `realm/filters/${first}`, { ...issue, pattern: '(' });
      expect(bad.errors).toEqual({ pattern: [bad.msg] });
      await refused('PATCH', `realm/filters/${first}`, mere);
      const { msg } = await refused('PATCH', 'realm/filters/999999', ticket);
      expect(msg).toBe('Linkifier not found.');
    });
  });

  describe('removing a linkifier', () => {
    it('publishes the remaining linkifiers to all clients, and refuses an unknown linkifier', async () => {
      const [first, second] = [await add(issue), await add(mere)];
      const events = await organisation.watch('guest', capable);
      await organisation.do('administrator', 'DELETE', `realm/filters/${first}`);
      const left = [{ ...mere, ...bare, id: second }];
      expect(await listed()).toEqual(left);
      expect(await events()).toEqual([{ type: 'realm_linkifiers', realm_linkifiers: left }]);
      expect((await refused('DELETE', `realm/filters/${first}`)).msg).toBe('Linkifier not found.');
    });
  });

  describe('the order of linkifiers', () => {
    it('follows the list of ids, and new linkifiers come last', async () => {
      const ids = [await add(issue), await add(mere), await add(ticket)] as const;
      const [a, b, c] = ids;
      const events = await organisation.watch('guest', capable);
      await organisation.do('administrator', 'PATCH', 'realm/linkifiers', {
        ordered_linkifier_ids: [c, a, b],
      });
      expect((await listed()).map(({ id }) => id)).toEqual([c, a, b]);
      expect(await events()).toEqual([{ type: 'realm_linkifiers', realm_linkifiers: await listed() }]);
      const d = await add({ ...mere, pattern: 'last' });
      expect((await listed()).map(({ id }) => id)).toEqual([c, a, b, d]);
    });

    it('can be an empty list if there are no linkifiers', async () => {
      await organisation.do('owner', 'PATCH', 'realm/linkifiers', { ordered_linkifier_ids: [] });
    });

    it('must name each linkifier exactly once', async () => {
      const [a, b] = [await add(issue), await add(mere)];
      for (const ids of [[a], [a, a], [a, b, b], [a, b, b + 1], []]) {
        const { msg } = await refused('PATCH', 'realm/linkifiers', { ordered_linkifier_ids: ids });
        expect(msg).toBe('The ordered list must enumerate all existing linkifiers exactly once');
      }
    });
  });

  it('only administrators can change linkifiers', async () => {
    const id = await add();
    const before = await listed();
    for (const who of ['moderator', 'member', 'guest', 'bot'] as const) {
      const answers = [
        await organisation.ask(who, 'POST', 'realm/filters', mere),
        await organisation.ask(who, 'PATCH', `realm/filters/${id}`, mere),
        await organisation.ask(who, 'DELETE', `realm/filters/${id}`),
        await organisation.ask(who, 'PATCH', 'realm/linkifiers', { ordered_linkifier_ids: [id] }),
      ];
      expect(answers.map(({ status, body }) => [who, status, body.code])).toEqual(
        answers.map(() => [who, 400, 'UNAUTHORIZED_PRINCIPAL']),
      );
    }
    expect(await listed()).toEqual(before);
  });
});
