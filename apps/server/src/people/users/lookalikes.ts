/**
 * Characters that look exactly like a Latin letter in common fonts, keyed by that letter. Generated from the
 * confusables of UTS 39 (https://www.unicode.org/reports/tr39/). Contains single characters only. Omits characters that
 * compatibility decomposition (NFKD) maps to the letter or to another listed character.
 */
export const exactLookalikes: Readonly<Record<string, string>> = {
  a: 'ɑαа⍺',
  A: 'ΑАᎪᗅꓮ𐊠𖽀',
  b: 'ƄЬᏏᖯ',
  B: 'ΒВᏴᗷꓐꞴ𐊂𐊡𐌁',
  c: 'ϲсᴄⲥꮯ𐐽',
  C: 'ϹСᏟⲤꓚ𐊢𐌂𐐕𐔜𑣩𑣲🝌',
  d: 'ԁᏧᑯꓒ',
  D: 'Ꭰᗞᗪꓓ',
  e: 'еҽ℮ꬲ',
  E: 'ΕЕᎬ⋿ⴹꓰ𐊆𑢦𑢮',
  f: 'քẝꞙꬵ',
  F: 'ϜᖴꓝꞘ𐊇𐊥𐔥𑢢𑣂𝈓',
  g: 'ƍɡցᶃ',
  G: 'ԌᏀᏳꓖ',
  h: 'һհᏂ',
  H: 'ΗНᎻᕼⲎꓧ𐋏',
  i: 'ıɩɪιіӏᎥ⍳ꙇꭵ𑣃',
  j: 'ϳј',
  J: 'ͿЈᎫᒍꓙꞲ',
  K: 'ΚКᏦᛕⲔꓗ𐔘',
  l: 'ƖǀΙІӀ\u{5c0}\u{5d5}\u{5df}\u{627}\u{661}\u{6f1}\u{7ca}ᛁ∣⏽Ⲓⵏꓲ￨𐊊𐌉𐌠𖼨\u{1e8c7}',
  L: 'ᏞᒪⳐꓡ𐐛𐔦𑢣𑢲𖼖𝈪',
  M: 'ΜϺМᎷᗰᛖⲘꓟ𐊰𐌑',
  n: 'ոռ',
  N: 'ΝⲚꓠ𐔓',
  o: 'οσоօ\u{5e1}\u{647}\u{665}\u{6be}\u{6c1}\u{6d5}\u{6f5}०੦૦௦౦೦ഠ൦๐໐ဝ၀ჿᴏᴑⲟꬽ𐐬𐓪𑣈𑣗',
  O: 'ΟОՕ\u{7c0}০ଠ୦ዐⲞⵔ〇ꓳ𐊒𐊫𐐄𐓂𐔖𑓐𑢵𑣠',
  p: 'ρр⍴ⲣ',
  P: 'ΡРᏢᑭⲢꓑ𐊕',
  q: 'ԛգզ',
  Q: 'ⵕ',
  r: 'гᴦⲅꭇꭈꮁ',
  R: 'ƦᎡᏒᖇꓣ𐒴𖼵𝈖',
  s: 'ƽѕꜱꮪ𐑈𑣁',
  S: 'ЅՏᏕᏚꓢ𐊖𐐠𖼺',
  T: 'ΤТᎢ⊤⟙Ⲧꓔ𐊗𐊱𐌕𑢼𖼊🝨',
  u: 'ʋυսᴜꞟꭎꭒ𐓶𑣘',
  U: 'Սሀᑌ∪⋃ꓴ𐓎𑢸𖽂',
  v: 'νѵ\u{5d8}ᴠ∨⋁ꮩ𑜆𑣀',
  V: 'Ѵ\u{667}\u{6f7}Ꮩᐯⴸꓦꛟ𐔝𑢠𖼈𝈍',
  w: 'ɯѡԝաᴡꮃ𑜊𑜎𑜏',
  W: 'ԜᎳᏔꓪ𑣦𑣯',
  x: '×хᕁᕽ᙮⤫⤬⨯',
  X: 'ΧХ᙭ᚷ╳ⲬⵝꓫꞳ𐊐𐊴𐌗𐌢𐔧𑣬',
  y: 'ɣʏγуүყᶌỿꭚ𑣜',
  Y: 'ΥУҮᎩᎽⲨꓬ𐊲𑢤𖽃',
  z: 'ᴢꮓ𑣄',
  Z: 'ΖᏃꓜ𐋵𑢩𑣥',
};

/** Letters, signs and discs that look like a filled or marked o. */
const circles = 'ʘⴲⵀⵙꙩꙫꙭꙮꚙ𐌏⊕⊗⊛⊜⌽⌾⍉⍟⏺◍◐◑◒◓◔◕◙☉⚆⚇⚈⚉⚬✪❂❍⦵⦶⦷⦸⦹⦻⦾⦿⧀⧁⨀⨁⨂⨷⨸⬤⭗⭘⭙⚽🌑🌕🏀🔘🔴🔵🔾🔿🞄🞅🞆🞇🞈🞉🞊🟠🟡🟢🟣🟤';

/**
 * Characters that look like a Latin letter at a glance, keyed by that letter in lower case. They include letters that
 * UTS 39 maps to that letter with a stroke or hook, small capitals, white and flag forms, turned letters, letters with
 * a similar shape, and digits, symbols and geometric shapes used as letters. Generators of decorated text also use
 * Chinese, Ethiopic and Thai letters. The long s looks like an f, but NFKD maps it to s, so it is compared as an s.
 */
export const similarLetters: Readonly<Record<string, string>> = {
  a: '∆△▲4@ʌδλᴀᶏ⍶ⱥ🅐🅰🇦卂ልคɐɒ',
  b: '฿86ßᛒႦƀƃɓʙбъѣҍᵬᶀꞗ🅑🅱🇧乃ጌ๒',
  c: '⊂ᑕ(¢ƈȼɕєҫ₡ꞓꞔ𝼝🅒🅲🇨匚ርς',
  d: '∂ðđƌȡɖɗдᴅᵭᶁᶑ₫ꟈ𝼥🅓🅳🇩ዕժ๔',
  e: '∑3€əǝɘɇɛзэєҿᴇᶒⱸꬴ🅔🅴🇪乇ቿ三',
  f: '£ſʃƒғᵮᶂꜰ🅕🅵🇫千ቻ',
  g: '69ǥɠɢꞡ🅖🅶🇬ኗ\u{feee}ᵷ',
  h: '#ħɦʜћңӈӊᏺⱨꚕꞕ🅗🅷🇭卄ዘђɥ',
  i: '¡ɨᵻᵼᶖ⍸𝼚🅘🅸🇮丨ጎเ工エᴉ',
  j: 'ɉᴊ🅙🅹🇯フጋ',
  k: 'ƙқҟᴋᶄ₭ⱪꝁꝃꝅꞣ🅚🅺🇰ҝጕʞ',
  l: '£łƚȴɨɫɬɭʟ\u{673}ᶅⱡꝉꞎꬷꬸꬹ𝼑𝼓𝼦🅛🅻🇱ㄥረレꞁ',
  m: 'ʍɱӎᴍᵯᶆ₥ꬺ𑜀𑣣🅜🅼🇲爪ጠ๓从ɯ',
  n: '∩ᑎ₦ŋƞȵɲɳɴηилпᵰᶇꞑꞥꬻ𐆎𝼧🅝🅽🇳几ክղภん',
  o: `°○◌◦●◯⚪⚫⭕◎◉⊙⊚⊘∅⓿øɵθфъѳө\u{6ff}တ⊖⊝⍬ⱺⴱⵁꝋꝍꬾꭴꮎꮻ𝈚𝼛🅞🅾🇴🜔ㄖዐ๏口ロ${circles}`,
  p: 'ƥᴘᵱᵽᶈꝑꝓꝕ🅟🅿🆊🇵卩የ\u{5e7}',
  q: 'ɋʠꝗꝙꞯ🅠🆀🇶ዒ',
  r: 'ɍɼɽɾяғᵲᵳᶉꞧꭉ𝼖𝼨🅡🆁🇷尺ዪгɹ',
  s: '§5$ȿʂᵴᶊꞩꟊ𝼞𝼩🅢🆂🇸丂ነร',
  t: '†‡┼╋7+ꞇʇŧƫƭȶʈҭᴛᵵ₮⍡ⱦ𝼉𝼪🅣🆃🇹ㄒፕէ十卜ト',
  u: 'ʉμцᵾᶙꞹꮜ🅤🆄🇺ㄩሁմย',
  v: '√ʋᶌⱱⱴꝟ𐆗🅥🆅🇻🜈ሀ\u{5e9}',
  w: 'ωшщѽ₩ⱳⲱꝡ𑓅🅦🆆🇼山ሠฬʍ',
  x: 'ҳᶍ⨰ꭖꭗꭘꭙ𐆖🅧🆇🇽乂ሸ\u{5d0}',
  y: '¥ƴɏұ🅨🆈🇾ㄚሃվ\u{5e5}ʎ',
  z: '2ƶȥɀʐʑᵶᶎⱬ🅩🆉🇿乙ጊհ',
};
