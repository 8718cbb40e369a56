let decoder: TextDecoder | undefined;

/**
 * The text of UTF-8 bytes, a byte order mark included; `undefined` when they are not UTF-8.
 * Works also where there is no `TextDecoder`, as in Hermes, React Native's engine.
 */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return typeof TextDecoder === 'undefined' ? decodePercentEncoded(bytes) : platformDecoder().decode(bytes);
  } catch {
    // Both throw for bytes that are not UTF-8, which the caller is told by `undefined`.
    return undefined;
  }
}

function platformDecoder(): TextDecoder {
  decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return decoder;
}

// What every engine has: percent-encoded bytes are decoded as strictly as UTF-8 demands (ECMA-262, Decode).
function decodePercentEncoded(bytes: Uint8Array): string {
  let encoded = '';
  for (const byte of bytes) encoded += `%${byte < 16 ? '0' : ''}${byte.toString(16)}`;
  return decodeURIComponent(encoded);
}
