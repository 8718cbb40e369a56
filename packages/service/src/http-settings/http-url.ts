/** Where a host and port are reached by HTTP. */
export function formatHttpUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
