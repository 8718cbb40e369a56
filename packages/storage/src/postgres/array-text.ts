/**
 * An array as PostgreSQL reads it. Most are as JSON but for the brackets, which the platform writes several times as fast as
 * the driver does element by element. Those with anything that JSON escapes, which is read otherwise, or with a number that
 * JSON has only `null` for, which PostgreSQL must refuse, are written element by element.
 * https://www.postgresql.org/docs/current/arrays.html#ARRAYS-INPUT
 */
export function arrayText(values: readonly (string | number | null)[]): string {
  const json = JSON.stringify(values);
  const isPlain = !json.includes('\\') && !json.includes('null');
  const elements = isPlain ? json.slice(1, -1) : values.map(elementText).join();
  return `{${elements}}`;
}

function elementText(value: string | number | null): string {
  return typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value);
}
