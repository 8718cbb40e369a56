// The parts of React Native's platform that the client uses. The bare engine has none of them. `URL` and response body
// streams are omitted, because they are also unusable on React Native.
globalThis.TextEncoder = class {
  encode(text) {
    const bytes = [];
    const encoded = encodeURIComponent(text);
    for (let index = 0; index < encoded.length; index += 1) {
      if (encoded[index] !== '%') bytes.push(encoded.charCodeAt(index));
      else {
        bytes.push(Number.parseInt(encoded.slice(index + 1, index + 3), 16));
        index += 2;
      }
    }
    return Uint8Array.from(bytes);
  }
};

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

globalThis.btoa = (binary) => {
  let text = '';
  for (let index = 0; index < binary.length; index += 3) {
    const [first, second, third] = [0, 1, 2].map((offset) => binary.charCodeAt(index + offset) || 0);
    const bits = first * 65_536 + second * 256 + third;
    text += [18, 12, 6, 0].map((shift) => alphabet[Math.floor(bits / 2 ** shift) % 64]).join('');
  }
  const padding = (3 - (binary.length % 3)) % 3;
  return text.slice(0, text.length - padding) + '='.repeat(padding);
};

globalThis.atob = (text) => {
  let bits = '';
  for (const character of text.replace(/=/g, '')) {
    bits += alphabet.indexOf(character).toString(2).padStart(6, '0');
  }
  const bytes = bits.match(/.{8}/g) ?? [];
  return bytes.map((byte) => String.fromCharCode(Number.parseInt(byte, 2))).join('');
};

globalThis.AbortController = class {
  signal = { aborted: false };
  abort() {
    this.signal.aborted = true;
  }
};
