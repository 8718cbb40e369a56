import { isDeepStrictEqual } from 'node:util';

/**
 * Holds an answer against what its operation declares. Tests load this within their own process and, by
 * `hold-answers.mjs`, within the programs that they spawn; it loads nothing of the product that is not loaded already.
 */
export async function holdAnswer({ declared, code, fields }) {
  const name = `${declared.method} ${declared.path}`;
  if (code !== undefined) {
    // A process that sends answers has it loaded already.
    const { codesOf } = await import('@waxwing/service/http');
    const provoked = `${name} ${code}`;
    return codesOf(declared).includes(code)
      ? { provoked }
      : { provoked, wrong: `${name} declares no ${code}` };
  }
  if (fields === undefined) return {};
  const parsed = declared.answer.safeParse(fields);
  if (!parsed.success) return { wrong: `${name} answered otherwise than declared: ${parsed.error.message}` };
  if (isDeepStrictEqual(written(parsed.data), written(fields))) return {};
  return { wrong: `${name} answered fields that it does not declare: ${written(fields)}` };
}

/** The JSON on the wire, with sorted names. */
function written(value) {
  return JSON.stringify(value, (_name, inner) => {
    if (typeof inner === 'bigint') return `${inner}`;
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
