import { findReferences, type MarkdownFacts, renderMarkdown } from '@waxwing/markdown';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { arbitraryText } from './arbitrary-texts.js';
import { facts } from './facts.js';

describe('the references in a text', () => {
  it('are its mentions and links, without duplicates and wildcards', () => {
    const text =
      '@**Ada Lovelace** @_**Ada Lovelace** @**Alan|11** @**|12** @**all** @_**topic** @*core team* #**a** #**a>b** #**c>d@7**';
    expect(findReferences(text)).toEqual({
      userNames: ['Ada Lovelace'],
      userIds: [11, 12],
      groupNames: ['core team'],
      channelNames: ['a', 'c'],
      topics: [{ channelName: 'a', topic: 'b' }],
    });
  });

  it('are found in table cells, where a backslash escapes the vertical bar', () => {
    const text = '| @**Ada Lovelace\\|10** |\n|--|\n| #**general talk>a\\|b** |';
    expect(findReferences(text)).toMatchObject({
      userIds: [10],
      topics: expect.arrayContaining([{ channelName: 'general talk', topic: 'a|b' }]),
    });
    expect(renderMarkdown(text, facts).mentions.userIds).toEqual([10]);
  });

  it('are found directly after a quote mark or a cell boundary', () => {
    expect(findReferences('>@*core team*').groupNames).toEqual(['core team']);
    expect(renderMarkdown('>@*core team*', facts).mentions.silentGroupIds).toEqual([3]);
    const table = '|@**Ada Lovelace**|\n|--|\n|#**general talk**|';
    expect(findReferences(table)).toMatchObject({
      userNames: ['Ada Lovelace'],
      channelNames: ['general talk'],
    });
    expect(renderMarkdown(table, facts)).toMatchObject({
      mentions: { userIds: [10] },
      linkedChannelIds: [9],
    });
  });

  it('include every name that rendering looks up', () => {
    fc.assert(
      fc.property(arbitraryText, (text) => {
        expect(renderMarkdown(text, factsOf(text)).html).toBe(renderMarkdown(text, facts).html);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Returns the facts that a server would fetch for a text. */
function factsOf(text: string): MarkdownFacts {
  const names = findReferences(text);
  const has = (list: readonly string[], name: string) =>
    list.some((one) => one.toLowerCase() === name.toLowerCase());
  const channels = (facts.channels ?? []).filter(({ name }) => has(names.channelNames, name));
  return {
    ...facts,
    users: (facts.users ?? []).filter(
      ({ userId, fullName }) => names.userIds.includes(userId) || has(names.userNames, fullName),
    ),
    groups: (facts.groups ?? []).filter(({ name }) => has(names.groupNames, name)),
    channels,
    topics: (facts.topics ?? []).filter(({ channelId, topic }) =>
      names.topics.some(
        (asked) =>
          asked.topic.toLowerCase() === topic.toLowerCase() &&
          has([asked.channelName], channels.find((channel) => channel.channelId === channelId)?.name ?? ''),
      ),
    ),
  };
}
