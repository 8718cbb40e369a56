/** Formats file permissions in octal, such as `0640`. */
export function shownMode({ mode }: { readonly mode: number }): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}
