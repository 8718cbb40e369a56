import type { LightMyRequestResponse } from 'fastify';

interface Asked {
  readonly payload?: object | string;
  readonly cookie?: string | undefined;
  readonly headers?: Record<string, string | undefined>;
}

interface Injected {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly payload?: object | string;
}

/** Headers of requests that the dashboard page itself sends. */
export const pageHeaders = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };

/** Creates functions that send a program the same requests as its dashboard page. */
export function dashboardRequestsTo(
  app: { inject(request: Injected): Promise<LightMyRequestResponse> },
  adminToken: string,
) {
  const ask = (method: Injected['method'], url: string, { payload, cookie, headers }: Asked = {}) => {
    const own = method === 'GET' ? {} : pageHeaders;
    const all = Object.entries({ ...own, cookie, ...headers }).filter(([, value]) => value !== undefined);
    const body = payload ?? (method === 'GET' ? undefined : {});
    const request = { method, url, headers: Object.fromEntries(all) as Record<string, string> };
    return app.inject(body === undefined ? request : { ...request, payload: body });
  };
  const signIn = (token = adminToken) => ask('POST', '/admin/api/session', { payload: { token } });
  return {
    ask,
    signIn,
    /** Signs in and returns the cookie. */
    async session(): Promise<string> {
      return cookieIn(await signIn());
    },
  };
}

/** The cookie that a response sets, without its attributes. */
export function cookieIn({ headers }: Pick<LightMyRequestResponse, 'headers'>): string {
  const [cookie = ''] = String(headers['set-cookie']).split(';', 1);
  return cookie;
}
