import { describe, expect, it } from 'vitest';
import { requireOwnAddress } from '#server/people/users/email-address.js';
import { inserted, otherLetters } from './spellings.js';

describe('an address', () => {
  const refusal = 'has characters that are invisible or look like others';
  const ordinary = 'ada.lovelace';

  // Excludes letters of living languages, which only roughly resemble Latin letters.
  const {
    'with strokes': _strokes,
    'Chinese and Bopomofo': _chinese,
    Ethiopic: _ethiopic,
    ...notOwn
  } = { ...otherLetters, ...inserted };

  it.each(Object.entries(notOwn))('is refused in this spelling: %s', (_, spell) => {
    for (const address of [
      `${spell(ordinary)}@example.com`,
      `ada@${spell('example')}.com`,
      `ada@mail.example.${spell('com')}`,
    ]) {
      if (/^[\x20-\x7e]*$/.test(address)) continue;
      expect(() => requireOwnAddress(address), address).toThrow(refusal);
    }
  });

  it.each([
    ...['аda@example.com', 'ada@exаmple.com', 'ada@example.сom', 'ada@раура.com', 'AДA@example.com'],
    ...['ada\u200d@example.com', '\u202eada@example.com', 'ada@exa\u00admple.com', 'ada\u3164@example.com'],
    ...[
      'ada@ex\u0430mple.com',
      'ada@xn--exmple-4nf.com',
      'ada@example。com',
      'ada@example\u2024com',
      'ａda@example.com',
    ],
    ...[
      'ad\u0430\u0301@example.com',
      'adx\u0301@example.com',
      'ada\u{e0061}@example.com',
      'ada★@example.com',
      '😀@example.com',
    ],
    ...['сеа@x.org', 'сара@example.com', 'сара@рос.рф', 'сара1@x.org', 'СЕА@x.org', 'ВОТ@x.org', 'ρ@x.org'],
    ...[
      'ορα@example.gr',
      'σοσ@x.org',
      'ı@x.org',
      'yılmaz@example.com',
      'adm\u0131n@x.org',
      'ada@alt\u0131n.com',
    ],
    ...[
      'ЗОЕ@x.org',
      'себа@x.org',
      'ВЫсос@x.org',
      'հոս@x.org',
      '\u05e1\u05d5\u05e1@x.org',
      '\u0661\u0665@x.org',
    ],
    ...[
      'o\u02bcbrien@example.com',
      'adminǃ@x.org',
      'ada\u02c8x@x.org',
      'ada\u0237@x.org',
      'payーpal@x.org',
      'pay一pal@x.org',
    ],
    ...['ノ@x.org', 'adminン@x.org', 'ada@payーpal.com', 'a丨ice@x.org'],
    ...['αδα.ada@example.com', 'ivanиван@example.com', 'ᎪᏙ@example.com', 'аԁа@example.com', 'ada@еxample.рф'],
  ])('%j is refused', (address) => {
    expect(() => requireOwnAddress(address)).toThrow(refusal);
  });

  it.each([
    ...[
      'ada@example.com',
      "o'brien+tag@example.com",
      'ADA_1%x@EXAMPLE.COM',
      'ada@xn--mller-kva.example',
      'ada@192.0.2.1',
    ],
    ...[
      'jürgen@müller.example',
      'żółć@example.com',
      'øyvind.løken@example.no',
      'nguyễn@example.vn',
      'ışık@example.tr',
      'yılmaz@example.tr',
      'cafe\u0301@example.com',
      'an\u0303o.nuevo@example.com',
    ],
    ...[
      'иван.петров@почта.рф',
      'анна@example.com',
      'νίκος@example.gr',
      'дмитрий-1@example.com',
      'Роза.ноур@example.com',
      'иван@пример.рф',
      'ёж@example.com',
      'сара.иванова@рос.рф',
      'вова@example.com',
      'άννα@example.gr',
      'μαρια@example.gr',
      'yıldız@altın.com.tr',
      'аля@example.com',
      'мар\u02bcяна@example.com',
      'データ@example.jp',
      '一郎@example.jp',
      'taroソニー@example.jp',
      '丁一@example.cn',
      '\u05d9\u05d5\u05e1\u05d9@example.co.il',
      'יוסף@example.co.il',
    ],
    ...[
      'علي@example.com',
      'राम@डाटामेल.भारत',
      'สมชาย@example.th',
      '山田taro@例え.jp',
      '김철수@example.kr',
      'հայկ@example.am',
    ],
  ])('%j is allowed', (address) => {
    expect(() => requireOwnAddress(address)).not.toThrow();
  });
});
