/** Formats an HTTP URL, with brackets around an IPv6 address. */
export function formatHttpUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
