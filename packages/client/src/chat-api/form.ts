/** Text and numbers of a form; what is `undefined` is left out. */
export type FormFields = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

/** URL-encoded form fields. React Native's `URLSearchParams` is incomplete, so this stands in for it. */
export function encodeForm(fields: FormFields): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&');
}
