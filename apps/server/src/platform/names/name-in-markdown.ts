import { channelHash } from '@waxwing/markdown';
import type { ChannelId } from '@waxwing/protocol';

/** Characters that end or break a mention or channel link. The rest of the name would then be parsed as Markdown. */
const special = /[`>*&[\]]|\$\$/;
const plain = /^[\p{L}\p{M}\p{N} ,'’-]+$/u;

/**
 * Returns whether a name can be written as `@_*name*` or `#**name**`. The server's own bots must not write any other
 * name in this form: a link inside the name would seem to come from the bot.
 */
export function isMentionable(name: string): boolean {
  return !special.test(name);
}

/** Escapes the text of a link. */
export function linkText(text: string): string {
  return text.replace(/[`>*&[\]$<\\]/g, (character) => `&#${character.codePointAt(0)};`);
}

/** Returns a Markdown link to a channel. */
export function channelLink(id: ChannelId, name: string): string {
  if (isMentionable(name)) return `#**${name}**`;
  return `[${linkText(`#${name}`)}](${channelHash(id, name).slice(1)})`;
}

/** Writes a name in bold and escapes its Markdown. */
export function boldName(name: string): string {
  if (plain.test(name)) return `**${name}**`;
  const longest = Math.max(0, ...[...name.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  // Spaces separate the name's backticks from the fence. Markdown does not display them.
  const inner = longest > 0 ? ` ${name} ` : name;
  return `**${fence}${inner}${fence}**`;
}
