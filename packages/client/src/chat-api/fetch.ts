/** The platform's `fetch`, or a stand-in for it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;
