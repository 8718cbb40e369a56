import { isDeepStrictEqual } from 'node:util';

/**
 * Checks a response against its operation's declaration. Tests load this function in their own process and, through
 * `hold-answers.mjs`, in the programs that they spawn. It imports a product module only for error responses, when the
 * process has already loaded that module.
 */
export async function holdAnswer({ declared, code, fields }) {
  const name = `${declared.method} ${declared.path}`;
  if (code !== undefined) {
    // A process that sends responses has already loaded this module.
    const { codesOf } = await import('@waxwing/service/http');
    const provoked = `${name} ${code}`;
    return codesOf(declared).includes(code)
      ? { provoked }
      : { provoked, wrong: `${name} declares no ${code}` };
  }
  if (fields === undefined) return {};
  const parsed = declared.answer.safeParse(fields);
  if (!parsed.success)
    return { wrong: `${name} responded differently than it declares: ${parsed.error.message}` };
  if (isDeepStrictEqual(written(parsed.data), written(fields))) return {};
  return { wrong: `${name} responded with fields that it does not declare: ${written(fields)}` };
}

/** Serializes a value as on the wire, but with sorted keys. */
function written(value) {
  return JSON.stringify(value, (_name, inner) => {
    if (typeof inner === 'bigint') return `${inner}`;
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
