const webUrl = /^(https?):\/\/([^/?#@\\\s:[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?(?=[/?#]|$)/i;
const defaultPorts = { http: 80, https: 443 } as const;

/**
 * Returns the origin of an absolute http or https URL, in lowercase and without the scheme's default port. Returns
 * `undefined` for any other string, including URLs with a user name. Used instead of `URL`, which does not compute
 * origins on React Native.
 */
export function webOriginOf(url: string): string | undefined {
  const match = webUrl.exec(url);
  if (match === null) return undefined;
  const scheme = (match[1] as string).toLowerCase() as keyof typeof defaultPorts;
  const host = (match[2] as string).toLowerCase();
  const port = match[3] === undefined ? defaultPorts[scheme] : Number(match[3]);
  return port === defaultPorts[scheme] ? `${scheme}://${host}` : `${scheme}://${host}:${port}`;
}

const loopbackOrigin = /^http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/**
 * Returns the URL of a server or relay without trailing slashes, ready to append a path. `name` is the option's name,
 * for error messages.
 *
 * @throws RangeError if it is not an https URL. Plain http is allowed for loopback only (`localhost`, `127.0.0.1`,
 * `[::1]`).
 */
export function requireHttpsUrl(name: 'realmUrl' | 'relayUrl', url: string): string {
  const origin = webOriginOf(url);
  if (origin === undefined || /[?#]/.test(url)) {
    throw new RangeError(`${name} must be an absolute URL such as https://chat.example.com: ${url}`);
  }
  if (origin.startsWith('http:') && !loopbackOrigin.test(origin)) {
    const why = name === 'realmUrl' ? ', or the API key would be sent unencrypted' : '';
    throw new RangeError(`${name} must use https${why}: ${url}`);
  }
  return url.replace(/\/+$/, '');
}
