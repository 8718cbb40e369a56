import { expect, it } from 'vitest';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { sendingUnderTest } from './sending-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const { send, sent, stored } = sendingUnderTest(organisation);

  it.each([
    ['a zero-width space', '\u200b'],
    ['Hangul fillers', '\u3164 \u115f\u1160\uffa0'],
    ['a blank Braille pattern', '\u2800'],
    ['joiners, direction marks and a soft hyphen', '\u200c\u200d\u2060\u200e\u202e\u061c\u00ad\ufeff'],
    ['tags', '\u{e0061}\u{e007f}'],
    ['variation selectors', '\ufe0f\ufe0e\u{e0100}\u180b'],
    ['blanks of any width', '\u00a0\u3000\u2003\u1680\u2028'],
    ['a blank note and a blank letter', '\u{1d159}\u{16fe4}'],
    ['blank hieroglyphs', '\u{13441}\u{13442}'],
    ['an annotation without text', '\ufff9\ufffb\ufffc'],
    ['more invisible characters than a message may have', '\u200b'.repeat(10_001)],
  ])('a message must show something, unlike %s', async (_what, content) => {
    const { status, body } = await send('member', {
      type: 'direct',
      to: [organisation.id('member')],
      content,
    });
    expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Message must not be empty']);
  });

  it.each([
    ['Markdown that shows nothing, which is shown as typed', '[](https://example.com)'],
    ['an invisible character in Markdown', '[\u200b](https://example.com)'],
    ['a formula that shows nothing', '$$\\ $$'],
    ['an entity', '&#8203;'],
    ['a mark without a letter', '\u0e34'],
    ['an emoji that is newer than this program', '\u{1faf9}'],
    ['a character for private use', '\uf8ff'],
    ['a flag', '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
    ['the resolved mark', '✔'],
  ])('a message may be %s', async (_what, content) => {
    const to = [organisation.id('member')];
    expect((await stored(await sent('member', { type: 'direct', to, content }))).content).toBe(content);
  });
});
