import { domainToASCII } from 'node:url';
import { describe, expect, it } from 'vitest';
import { requireOwnAddress } from '#server/people/users/email-address.js';
import { checkedFullName } from '#server/people/users/full-name.js';
import { isReservedAddress, isReservedName } from '#server/people/users/reserved-identity.js';
import fc from '../../../support/fast-check.js';
import { inserted, otherBlanks, otherLetters } from './spellings.js';

const names = ['Notification Bot', 'Welcome Bot', 'Email Gateway'];
const localParts = ['notification-bot', 'welcome-bot', 'emailgateway'];
const all = { ...otherLetters, ...inserted, ...otherBlanks };
const spellings = Object.entries(all);

/** Ways to decorate a name so that it still looks like the same bot's name. */
const decorations: Readonly<Record<string, (name: string) => readonly string[]>> = {
  'an article': (name) => ['The', 'A', 'an', 'Le', 'la', 'El', 'Der'].map((each) => `${each} ${name}`),
  'the word bot': (name) => [
    `${name} (bot)`,
    `${name} [BOT]`,
    `Bot: ${name}`,
    `bot/${name}`,
    `${name}, a bot`,
  ],
  'a claim': (name) => [`Official ${name}`, `${name} (official)`, `Real ${name}`, `System ${name}`],
  digits: (name) => [`${name} 2`, `${name}1`, `2${name}`, `${name} ٣`, `${name} ②`, `${name} v2`],
  'Roman numerals': (name) => [`${name} II`, `${name} IV`, `${name} Ⅻ`],
  brackets: (name) => [`(${name})`, `[${name}]`, `«${name}»`, `【${name}】`, `{{${name}}}`],
  punctuation: (name) => [
    `~${name}~`,
    `${name}!!!`,
    `-= ${name} =-`,
    `…${name}…`,
    `${name.replace(' ', '-')}`,
  ],
  emoji: (name) => [`🔔 ${name}`, `${name} 🤖`, `🤖${name.replace(' ', '🔔')}👩‍💻`, `${name} ✅`],
  'a letter x': (name) => [`x ${name} x`, `xX${name}Xx`],
  'the words the other way round': (name) => {
    const [first = '', second = ''] = name.split(' ');
    return ['', ' ', ': ', ' of ', ' for ', ' de '].map((between) => `${second}${between}${first}`);
  },
  'a word repeated': (name) => [`${name} Bot Bot`, `Welcome ${name}`],
};

describe('a system bot’s name', () => {
  it.each(spellings)('is reserved in this spelling: %s', (_, spell) => {
    for (const name of names) {
      const spelled = spell(name);
      expect([spelled, isReservedName(spelled)]).toEqual([spelled, true]);
      expect(() => checkedFullName(spelled)).toThrow();
    }
  });

  // These letters also occur in ordinary names, so addresses may contain them.
  it.each([
    'Notiſication Bot',
    'Notiʃication Bot',
    'Ŋotificatioŋ Bot',
    'Wəlcomə Bot',
    'Wɘlcomǝ Bot',
    'Welcome ßot',
    'Welcome ᛒot',
    'Welcome Ⴆoʇ',
    'Welcome Boꞇ',
    ...[...'ʘⵙꙩꙫꚙ𐌏⊕⊗⊛⏺◍◐☉⚆❍⦿⨀⨂⭘🌑🔘🔴🟢'].map((circle) => `Notificati${circle}n Bot`),
    ...['Notificɐtion Bot', 'Notificatᴉon Bot', 'Welcoɯe Bot', 'ʍelcome Bot', 'Weꞁcome Bot'],
    ...[
      'We!come Bot',
      'W3lcome Bot',
      'We1c0me B0t',
      'We!come Bot!',
      '!We!come-Bot',
      'W€lcome 8ot',
      '(W3|c0m3) | Bo7',
    ],
    ...[
      'N0t!f!c4t!0n B0+',
      'Notification 6ot',
      'Emai! Gat3way',
      '3mail G@teway',
      'Emai| | Gateway',
      'Welcome + Bot',
      'Notification Bots',
      'Notifications Bot',
      'Welcomes Bot5',
      'Email-Gateways',
    ],
  ])('is reserved with letters of a similar shape: %s', (name) => {
    expect(isReservedName(name)).toBe(true);
    expect(() => checkedFullName(name)).toThrow();
  });

  it.each(Object.entries(decorations))('is reserved with %s', (_, decorate) => {
    for (const name of names) {
      for (const decoratedName of decorate(name).flatMap((each) => [each, each.toUpperCase()])) {
        expect([decoratedName, isReservedName(decoratedName)]).toEqual([decoratedName, true]);
      }
    }
  });

  it('is reserved with any two decorations', () => {
    const { 'an article': _article, 'the words the other way round': _order, ...repeatable } = decorations;
    const first = fc.constantFrom(...Object.values(decorations));
    const second = fc.constantFrom(...Object.values(repeatable));
    fc.assert(
      fc.property(fc.constantFrom(...names), first, second, fc.nat(), fc.nat(), (name, one, two, i, j) => {
        const once = one(name);
        const twice = two(once[i % once.length] ?? '');
        const text = twice[j % twice.length] ?? '';
        expect([text, isReservedName(text)]).toEqual([text, true]);
      }),
    );
  });

  it('is reserved in any combination of two spellings', () => {
    const free = [];
    for (const [one, first] of Object.entries(otherLetters))
      for (const [two, second] of spellings)
        for (const name of names) {
          // A vertical bar that replaces a letter does not separate words.
          if (/\|/.test(`${one}${two}`)) continue;
          const spelled = second(first(name));
          if (!isReservedName(spelled)) free.push([one, two, spelled]);
        }
    expect(free).toEqual([]);
  });

  it('does not include other names', () => {
    for (const name of [
      ...['Ada', 'Bot', 'Welcome', 'Notification', 'Notification Botanist', 'Welcome Botting'],
      ...[
        'My Notification Bot',
        'Build Notification Bot',
        'Email Notification Bot',
        'Notification Bot for Sales',
        'Lola Notification Bot',
        'Ana Welcome Bot',
        'The Bot',
        'Bot (bot)',
        'Official Bot 2',
        'System Notification',
        'Welcome Both',
        'Welcome Botan',
        'Welcome Botha',
        'Welcome Botox',
        'Botox Welcome',
        'Welcome Le Botmel',
        'Welcome Abbott',
        'Notification Botsford',
        'Gateway Emailer',
        'The Email Gatehouse',
        'CI Bot',
        'Gateway',
        'Email',
        'E. Gatewayman',
        'Иван Петров',
        'Νίκος',
        '山田 太郎',
      ],
      ...['علی رضا', 'Ada 👩 Lovelace', 'Notificación Bot 7', 'O’Brien', '0', '-', '★', ''],
    ]) {
      expect([name, isReservedName(name)]).toEqual([name, false]);
    }
  });

  it('is recognized quickly in texts of any length', () => {
    for (const text of ['|', 'rn', 'vv', 'Not|', 'l|1I']) {
      const start = performance.now();
      expect(isReservedName(text.repeat(8000))).toBe(false);
      expect(performance.now() - start).toBeLessThan(1000);
    }
  });
});

describe('a system bot’s address', () => {
  it.each(spellings)('is reserved in this spelling: %s', (_, spell) => {
    for (const local of localParts) {
      for (const address of [
        `${spell(local)}@example.com`,
        `${spell(local)}+tag@example.com`,
        `anyone@${spell('system.invalid')}`,
        `anyone@mail.${spell('system.invalid')}`,
      ]) {
        expect([address, isReservedAddress(address)]).toEqual([address, true]);
        expect(() => requireOwnAddress(address)).toThrow();
      }
    }
  });

  it.each(['notification-bots', 'notifications-bot', 'welcome-bots', 'emailgateways'])(
    'is reserved in the plural: %s',
    (local) => {
      expect(isReservedAddress(`${local}@example.com`)).toBe(true);
    },
  );

  it.each([
    ...['notification-bot-2', 'notification-bot2', '2-notification-bot', 'the-notification-bot'],
    ...['bot-notification', 'the.welcome.bot', 'welcome-bot-bot', 'official.email-gateway', 'gateway-email'],
  ])('is reserved with a decoration: %s', (local) => {
    expect(isReservedAddress(`${local}@example.com`)).toBe(true);
    expect(() => requireOwnAddress(`${local}@example.com`)).toThrow('reserved');
  });

  it('is reserved for all DNS spellings of its domain', () => {
    for (const domain of [
      'system.invalid',
      'SYSTEM.INVALID.',
      domainToASCII('ѕystem.invalid'),
      'ѕystem.invalid',
    ]) {
      expect([domain, isReservedAddress(`ada@${domain}`)]).toEqual([domain, true]);
    }
  });

  it('leaves other addresses free', () => {
    for (const address of [
      ...['ada@example.com', 'bot@example.com', 'welcome@example.com', 'notifications@example.com'],
      ...[
        'user1@hidden.invalid',
        'ada@system.invalid.example.com',
        'ada@invalid',
        'notification-bot-sales@example.com',
        'abbot.welcome@example.com',
        'build-notification-bot@example.com',
        'сара@example.com',
      ],
    ]) {
      expect([address, isReservedAddress(address)]).toEqual([address, false]);
    }
  });
});

it('a name that repeats lookalikes is checked in linear time', () => {
  const circled = [...'NOTIFICATIONBOT'].map((letter) =>
    String.fromCodePoint((letter.codePointAt(0) ?? 0) - 0x41 + 0x1f150),
  );
  expect(isReservedName(circled.join(''))).toBe(true);
  const started = performance.now();
  for (const repeats of [6, 40]) {
    expect(isReservedName(`${circled.map((each) => each.repeat(repeats)).join('')}q`)).toBe(false);
    expect(isReservedName(circled.map((each) => each.repeat(repeats)).join(''))).toBe(true);
  }
  // Backtracking would take hours.
  expect(performance.now() - started).toBeLessThan(5000);
});
