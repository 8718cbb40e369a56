import { webOriginOf } from '../web-origin.js';
import type { Fetch } from './fetch.js';

/**
 * Why there was no usable answer: the server's name is not known, nobody listens at its port, its certificate is not
 * trusted, it did not answer in time, it does not allow requests of the page's origin, something else answered, or
 * another fault of the network. Not every platform tells them apart: browsers and React Native say `network` for the
 * first three.
 */
export type UnreachableCause = 'dns' | 'refused' | 'tls' | 'timeout' | 'cors' | 'foreign-answer' | 'network';

interface Explanation {
  readonly reason: UnreachableCause;
  /** Goes on after "cannot be reached"; empty where there is nothing to say. */
  readonly sentence: string;
}

const sentences = {
  dns: ': no machine has that name',
  refused: ': nothing listens there',
  tls: ': its certificate is not trusted',
} as const;

/** How long a browser is given to tell whether the server is there at all. */
const probeMilliseconds = 5000;

/** Why a `fetch` has failed, by what it threw. */
export async function explainFailure(fetch: Fetch, url: string, thrown: unknown): Promise<Explanation> {
  const code = codeOf(thrown);
  const reason = code === undefined ? undefined : reasonOfCode(code);
  if (reason !== undefined) return { reason, sentence: `${sentences[reason]} (${code})` };
  if (code === undefined && (await isBlockedByBrowser(fetch, url))) {
    const { origin } = globalThis.location;
    return { reason: 'cors', sentence: ` from a page of ${origin}, which its CORS headers do not allow` };
  }
  return { reason: 'network', sentence: code === undefined ? '' : ` (${code})` };
}

/** The system's or TLS library's code, which Node hands on as the cause of what `fetch` throws. */
function codeOf(thrown: unknown): string | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    const { code } = error as Error & { code?: unknown };
    if (typeof code === 'string') return code;
  }
  return undefined;
}

function reasonOfCode(code: string): keyof typeof sentences | undefined {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'dns';
  if (code === 'ECONNREFUSED') return 'refused';
  return /CERT|^ERR_TLS|^ERR_SSL|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code) ? 'tls' : undefined;
}

/**
 * Whether the server answers where the page need not read the answer. A browser does not say that CORS was the reason;
 * nothing of the account goes along.
 */
async function isBlockedByBrowser(fetch: Fetch, url: string): Promise<boolean> {
  const here = globalThis.location?.origin;
  const origin = webOriginOf(url);
  if (here === undefined || origin === undefined || here === origin) return false;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), probeMilliseconds);
  try {
    await fetch(origin, { mode: 'no-cors', credentials: 'omit', cache: 'no-store', signal: abort.signal });
    return true;
  } catch {
    // As little there for this as for the request itself.
    return false;
  } finally {
    clearTimeout(timer);
  }
}
