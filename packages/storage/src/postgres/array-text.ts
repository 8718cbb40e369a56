/**
 * An array as PostgreSQL reads it. As JSON but for the brackets, which the platform writes several times as fast as the
 * driver does element by element; only what JSON escapes, which is read otherwise, is written by itself.
 * https://www.postgresql.org/docs/current/arrays.html#ARRAYS-INPUT
 */
export function arrayText(values: readonly (string | number | null)[]): string {
  const json = JSON.stringify(values);
  const elements = json.includes('\\') ? values.map(elementText).join() : json.slice(1, -1);
  return `{${elements}}`;
}

function elementText(value: string | number | null): string {
  return typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value);
}
