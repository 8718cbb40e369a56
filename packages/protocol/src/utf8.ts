let decoder: TextDecoder | undefined;

/**
 * Decodes UTF-8 strictly and keeps a byte order mark. Returns `undefined` for invalid UTF-8. Works without
 * `TextDecoder`, which Hermes (React Native's engine) may lack.
 */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return typeof TextDecoder === 'undefined' ? decodePercentEncoded(bytes) : platformDecoder().decode(bytes);
  } catch {
    // Both decoders throw for invalid UTF-8.
    return undefined;
  }
}

function platformDecoder(): TextDecoder {
  decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return decoder;
}

// Fallback for engines without `TextDecoder`. All engines have `decodeURIComponent`, which throws for invalid UTF-8
// (ECMA-262, Decode).
function decodePercentEncoded(bytes: Uint8Array): string {
  let encoded = '';
  for (const byte of bytes) encoded += `%${byte < 16 ? '0' : ''}${byte.toString(16)}`;
  return decodeURIComponent(encoded);
}
