let decoder: TextDecoder | undefined;

/**
 * Decodes UTF-8 strictly, keeping a byte order mark. Returns `undefined` for invalid UTF-8. Works without
 * `TextDecoder`, as in Hermes, React Native's engine.
 */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return typeof TextDecoder === 'undefined' ? decodePercentEncoded(bytes) : platformDecoder().decode(bytes);
  } catch {
    // Both decoders throw for invalid UTF-8; the caller gets `undefined`.
    return undefined;
  }
}

function platformDecoder(): TextDecoder {
  decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return decoder;
}

// For engines without `TextDecoder`: `decodeURIComponent` exists everywhere, and throws for invalid UTF-8 (ECMA-262,
// Decode).
function decodePercentEncoded(bytes: Uint8Array): string {
  let encoded = '';
  for (const byte of bytes) encoded += `%${byte < 16 ? '0' : ''}${byte.toString(16)}`;
  return decodeURIComponent(encoded);
}
