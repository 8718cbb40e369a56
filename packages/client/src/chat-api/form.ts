/** Form fields; `undefined` values are omitted. */
export type FormFields = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

/** URL-encodes form fields. Replaces `URLSearchParams`, which is incomplete on React Native. */
export function encodeForm(fields: FormFields): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&');
}
