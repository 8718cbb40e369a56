import { emojiCode, emojiCodeToNames, emojiOf, parseLinkifier, renderMarkdown } from '@waxwing/markdown';
import { describe, expect, it } from 'vitest';
import { facts } from './facts.js';

const html = (text: string) => renderMarkdown(text, facts).html;
/** Returns the HTML inside the paragraph of a text that consists of one paragraph. */
const inline = (text: string) => /^<p>(.*)<\/p>$/s.exec(html(text))?.[1];

describe('text', () => {
  it.each([
    ['a\nb', 'a<br>\nb'],
    ['**b** *i* ~~s~~', '<strong>b</strong> <em>i</em> <del>s</del>'],
    ['***both***', '<em><strong>both</strong></em>'],
    ['_u_ __u__ a_b_c', '_u_ __u__ a_b_c'],
    ['`code` ``a`b``', '<code>code</code> <code>a`b</code>'],
    ['C:\\dir ¯\\_(x)_/¯ \\*', 'C:\\dir ¯\\_(x)_/¯ \\*'],
    ['<b>raw</b> & &lt;', '&lt;b&gt;raw&lt;/b&gt; &amp; &lt;'],
    ['`<b>&lt;`', '<code>&lt;b&gt;&amp;lt;</code>'],
  ])('%j', (text, expected) => expect(inline(text)).toBe(expected));

  it('renders as empty HTML if it is empty, and is recognized as a status message', () => {
    expect(html('')).toBe('');
    expect(renderMarkdown('/me waves', facts)).toMatchObject({ html: '<p>/me waves</p>', isMeMessage: true });
    expect(renderMarkdown('/men', facts).isMeMessage).toBe(false);
  });
});

describe('mentions', () => {
  const ada = '<span class="user-mention" data-user-id="10">@Ada Lovelace</span>';
  it.each([
    ['@**Ada Lovelace**', ada],
    ['@**ada lovelace**', ada],
    ['@**Ada Lovelace|10**', ada],
    ['@**|10**', ada],
    ['@_**Ada Lovelace**', '<span class="user-mention silent" data-user-id="10">Ada Lovelace</span>'],
    ['@**Grace Hopper**', '<span class="user-mention silent" data-user-id="13">Grace Hopper</span>'],
    ['@**Alan Turing**', '<span class="user-mention" data-user-id="11">@Alan Turing</span>'],
    ['@**all**', '<span class="user-mention channel-wildcard-mention" data-user-id="*">@all</span>'],
    [
      '@_**channel**',
      '<span class="user-mention channel-wildcard-mention silent" data-user-id="*">channel</span>',
    ],
    ['@**topic**', '<span class="topic-mention">@topic</span>'],
    ['@_**topic**', '<span class="topic-mention silent">topic</span>'],
    ['@*core team*', '<span class="user-group-mention" data-user-group-id="3">@core team</span>'],
    ['@_*core team*', '<span class="user-group-mention silent" data-user-group-id="3">core team</span>'],
    ['@*old team*', '<span class="user-group-mention silent" data-user-group-id="5">old team</span>'],
    ['@*role:members*', '<span class="user-group-mention" data-user-group-id="4">@Members</span>'],
    ['(@**Ada Lovelace**)', `(${ada})`],
    [
      '@**<b>"Bold"</b>**',
      '<span class="user-mention" data-user-id="14">@&lt;b&gt;&quot;Bold&quot;&lt;/b&gt;</span>',
    ],
  ])('%s', (text, expected) => expect(inline(text)).toBe(expected));

  it.each([
    ['if the name is unknown', '@**Nobody**', '@<strong>Nobody</strong>'],
    ['if the name and id do not match', '@**Ada Lovelace|11**', '@<strong>Ada Lovelace|11</strong>'],
    ['if the group is unknown', '@*nobody*', '@<em>nobody</em>'],
    ['inside a word', 'x@**all**', 'x@<strong>all</strong>'],
    ['in code', '`@**all**`', '<code>@**all**</code>'],
  ])('stay as typed %s', (_case, text, expected) => expect(inline(text)).toBe(expected));

  it('are listed by kind without duplicates, with silent mentions separate', () => {
    const text =
      '@**|10** @**|10** @_**|11** @*core team* @_*role:members* @**everyone** @**topic** @**|13**';
    expect(renderMarkdown(text, facts).mentions).toEqual({
      userIds: [10],
      silentUserIds: [11, 13],
      groupIds: [3],
      silentGroupIds: [4],
      channelWildcard: true,
      topicWildcard: true,
    });
  });

  it.each(['> @**|10** @**all** @*core team*', '```quote\n- @**|10** @**all** @*core team*\n```'])(
    'are silent in a quote: %j',
    (text) => {
      const { mentions } = renderMarkdown(text, facts);
      expect(mentions).toMatchObject({ userIds: [], silentUserIds: [10], groupIds: [], silentGroupIds: [3] });
      expect(mentions.channelWildcard).toBe(false);
    },
  );
});

describe('links to conversations', () => {
  const channel = '/#narrow/channel/9-general-talk';
  it.each([
    ['#**general talk**', `<a class="stream" data-stream-id="9" href="${channel}">#general talk</a>`],
    [
      '#**general talk>lunch**',
      `<a class="stream-topic" data-stream-id="9" href="${channel}/topic/lunch/with/214">#general talk &gt; lunch</a>`,
    ],
    [
      '#**general talk>**',
      `<a class="stream-topic" data-stream-id="9" href="${channel}/topic//with/215">#general talk &gt; <em>general chat</em></a>`,
    ],
    [
      '#**general talk>new (1.5) 100%**',
      `<a class="stream-topic" data-stream-id="9" href="${channel}/topic/new.20.281.2E5.29.20100.25">#general talk &gt; new (1.5) 100%</a>`,
    ],
    [
      '#**general talk>lunch@77**',
      `<a class="message-link" href="${channel}/topic/lunch/near/77">#general talk &gt; lunch @ 💬</a>`,
    ],
    [
      '#**a<b&"(c).d**',
      '<a class="stream" data-stream-id="8" href="/#narrow/channel/8-a.3Cb.26.22.28c.29.2Ed">#a&lt;b&amp;&quot;(c).d</a>',
    ],
    ['#**secret**', '#<strong>secret</strong>'],
    ['x#**general talk**', 'x#<strong>general talk</strong>'],
  ])('%s', (text, expected) => expect(inline(text)).toBe(expected));

  it('are listed with the channels and messages that they lead to', () => {
    const rendered = renderMarkdown('#**general talk>a@77** #**general talk** #**general talk>a@78**', facts);
    expect(rendered).toMatchObject({ linkedChannelIds: [9], linkedMessageIds: [77, 78] });
  });
});

describe('links', () => {
  it.each([
    ['[t](https://a.example/x)', '<a href="https://a.example/x">t</a>'],
    ['[t](a.example)', '<a href="http://a.example">t</a>'],
    ['[t](mailto:a@b.example)', '<a href="mailto:a@b.example">t</a>'],
    ['[t](a@b.example)', '<a href="mailto:a@b.example">t</a>'],
    ['[](https://a.example)', '<a href="https://a.example">https://a.example</a>'],
    ['[t](/user_uploads/2/ab/f.txt)', '<a href="/user_uploads/2/ab/f.txt">t</a>'],
    ['[t](#narrow/channel/9-x/topic/y)', '<a href="#narrow/channel/9-x/topic/y">t</a>'],
    ['[t](https://chat.example.com/#narrow/channel/9-x)', '<a href="#narrow/channel/9-x">t</a>'],
    ['https://a.example/x_y_z.', '<a href="https://a.example/x_y_z">https://a.example/x_y_z</a>.'],
    ['see example.com, ok', 'see <a href="http://example.com">example.com</a>, ok'],
    ['me@example.com', '<a href="mailto:me@example.com">me@example.com</a>'],
    ['README.md x.py //a.example ftp://a.example', 'README.md x.py //a.example ftp://a.example'],
  ])('%s', (text, expected) => expect(inline(text)).toBe(expected));

  it.each([
    '[t](javascript:alert(1))',
    '[t](data:text/html,x)',
    '[t](/api/v1/x)',
    '[t](/user_uploads/../x)',
    '[t](/user_uploads/a/%2E%2e/x)',
    '[t]()',
  ])('stay as typed if the target is forbidden: %s', (text) => expect(inline(text)).toBe(text));

  it('are listed by path id if they lead to uploads', () => {
    const text =
      '[a](/user_uploads/2/ab/c%20d.txt) https://chat.example.com/user_uploads/2/ab/e.txt?x=1 [b](user_uploads/2/ab/f.txt) https://other.example/user_uploads/2/ab/g.txt';
    const { uploads, hasLink } = renderMarkdown(text, facts);
    expect({ uploads, hasLink }).toEqual({
      uploads: ['2/ab/c d.txt', '2/ab/e.txt', '2/ab/f.txt'],
      hasLink: true,
    });
  });
});

describe('linkifiers', () => {
  const issue = '<a href="https://tracker.example.com/issues/12">#12</a>';
  it.each([
    ['#12', issue],
    ['(#12, #12)', `(${issue}, ${issue})`],
    ['x#12 #12a', 'x#12 #12a'],
    ['`#12`', '<code>#12</code>'],
    ['[#12](https://a.example)', '<a href="https://a.example">#12</a>'],
    ['run alert', 'run alert'],
  ])('%s', (text, expected) => expect(inline(text)).toBe(expected));

  it.each(['(', '(?=a)', '\\1', 'a)(b', 'a)|(b', 'a\\Q', '(a{1,100}){1,100}', 'a{1,300}'])(
    'reject the pattern %s',
    (pattern) =>
      expect(parseLinkifier(pattern, 'https://a.example')).toMatchObject({
        kind: 'problem',
        about: 'pattern',
      }),
  );

  /** Renders a text with one linkifier. */
  const linked = (pattern: string, template: string, text: string) => {
    const parsed = parseLinkifier(pattern, template);
    if (parsed.kind === 'problem') throw new TypeError(parsed.message);
    return renderMarkdown(text, { realmUrl: 'https://a.example', linkifiers: [parsed.linkifier] }).html;
  };

  it('may have an optional group, and a group named like a parser token', () => {
    expect(linked('x(?P<link>[0-9]+)(?P<at>@[a-z])?', 'https://a.example/{link}{?at}', 'x12 x1@a')).toBe(
      '<p><a href="https://a.example/12">x12</a> <a href="https://a.example/1?at=%40a">x1@a</a></p>',
    );
  });

  it('leave a match as typed if the template would split a surrogate pair', () => {
    const [pattern, template] = ['x(?P<name>[^ ]+)', 'https://a.example/{name:1}'];
    expect(linked(pattern, template, 'xé x𝒳')).toBe('<p><a href="https://a.example/%C3%A9">xé</a> x𝒳</p>');
  });

  it('leave matches beyond the search budget as typed, however far each search looks ahead', () => {
    const [pattern, template] = ['a(.*z)?', 'https://a.example/'];
    const links = (count: number) => linked(pattern, template, 'a '.repeat(count)).split('<a ').length - 1;
    expect(links(100)).toBe(100);
    expect(links(5_000)).toBe(5);
  });
});

describe('emoji', () => {
  const smile = '<span class="emoji emoji-1f642" title="smile" role="img" aria-label="smile">:smile:</span>';
  it.each([
    [':smile:', smile],
    ['🙂', smile],
    ['x:smile:y', `x${smile}y`],
    [
      ':working_on_it:',
      '<span class="emoji emoji-1f6e0" title="working on it" role="img" aria-label="working on it">:working_on_it:</span>',
    ],
    ['❤️', '<span class="emoji emoji-2764" title="heart" role="img" aria-label="heart">:heart:</span>'],
    [
      ':our_logo:',
      '<img class="emoji" alt=":our_logo:" title="our logo" src="/user_avatars/2/emoji/logo.png">',
    ],
    ['12:30:45 :no_such: ↔ 1', '12:30:45 :no_such: ↔ 1'],
    ['`:smile: 🙂`', '<code>:smile: 🙂</code>'],
  ])('%s', (text, expected) => expect(inline(text)).toBe(expected));
});

describe('global times', () => {
  it.each([
    ['2025-01-31T10:00:00+01:00', '2025-01-31T09:00:00Z'],
    ['2025-01-31 10:00', '2025-01-31T10:00:00Z'],
    ['2025-01-31T10:00:00.5Z', '2025-01-31T10:00:00.500Z'],
    ['2017-12-31', '2017-12-31T00:00:00Z'],
  ])('%s', (typed, instant) =>
    expect(inline(`<time:${typed}>`)).toBe(`<time datetime="${instant}">${typed}</time>`),
  );

  it.each([
    'hello',
    '1496701800',
    'Jun 5th 2017, 10:30PM',
    '2025-13-01',
    '2025-01-31T25:00',
    '2025-02-30',
    ' ',
  ])('stay plain text if they are not ISO 8601: %s', (typed) =>
    expect(inline(`<time:${typed}>`)).toBe(`&lt;time:${typed}&gt;`),
  );

  it('are rendered like any other text if they are not ISO 8601', () => {
    expect(inline('<time:**soon**>')).toBe('&lt;time:<strong>soon</strong>&gt;');
  });
});

describe('formulas', () => {
  it('are typeset inline, and keep their source', () => {
    expect(inline('so $$x^2$$.')).toMatch(
      /^so <span class="katex"><span class="katex-mathml"><math .*<annotation encoding="application\/x-tex">x\^2<\/annotation>.*<span class="base">.*<\/span>\.$/,
    );
  });

  it('cannot contain links', () => {
    expect(inline('$$\\href{javascript:alert(1)}{x}$$')).not.toMatch(/<a |href=/);
  });

  it.each([
    ['$$\\nonsense$$', '<span class="tex-error">$$\\nonsense$$</span>'],
    ['$$🙂$$', '<span class="tex-error">$$🙂$$</span>'],
    ['$5 $$$ $$$$ $$_$$ a$$b$$', '$5 $$$ $$$$ $$_$$ a$$b$$'],
    ['$$a\nb$$', '$$a<br>\nb$$'],
  ])('%j', (text, expected) => expect(inline(text)).toBe(expected));
});

describe('emoji names', () => {
  it('are unique, and each resolves to its emoji', () => {
    const names = Object.entries(emojiCodeToNames()).flatMap(([code, all]) =>
      all.map((name) => ({ code, name })),
    );
    expect(names.length).toBeGreaterThan(1_800);
    expect(new Set(names.map(({ name }) => name)).size).toBe(names.length);
    expect(names.filter(({ code, name }) => emojiCode(name) !== code)).toEqual([]);
    expect(names.filter(({ code, name }) => !/^[\w+-]+$/.test(name) || !/^[0-9a-f-]+$/.test(code))).toEqual(
      [],
    );
    expect(emojiOf('🐱')?.name).toBe('cat_face');
  });
});
