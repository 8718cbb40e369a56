import { isDeepStrictEqual } from 'node:util';

/**
 * Checks an answer against its operation's declaration. Tests load this in their own process and, through
 * `hold-answers.mjs`, in the programs that they spawn. It imports product modules only if the process has already
 * loaded them.
 */
export async function holdAnswer({ declared, code, fields }) {
  const name = `${declared.method} ${declared.path}`;
  if (code !== undefined) {
    // A process that sends answers has already loaded this module.
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

/** Serializes a value as on the wire, but with sorted names. */
function written(value) {
  return JSON.stringify(value, (_name, inner) => {
    if (typeof inner === 'bigint') return `${inner}`;
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
