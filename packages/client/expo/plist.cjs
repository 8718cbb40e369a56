/** Serializes strings, arrays and dictionaries as an XML property list. */
exports.plist = function plist(value) {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0">\n${element(value)}\n</plist>\n`;
};

function element(value) {
  if (typeof value === 'string')
    return `<string>${value.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</string>`;
  if (Array.isArray(value)) return `<array>${value.map(element).join('')}</array>`;
  const entries = Object.entries(value).map(([name, inner]) => `<key>${name}</key>${element(inner)}`);
  return `<dict>${entries.join('\n')}</dict>`;
}
