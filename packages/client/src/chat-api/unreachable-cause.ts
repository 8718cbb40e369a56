import { webOriginOf } from '../web-origin.js';
import type { Fetch } from './fetch.js';

/**
 * Reason why a request got no usable response. Browsers and React Native cannot distinguish the first three causes, and
 * report `network` instead.
 *
 * - `dns`: the server's name cannot be resolved
 * - `refused`: the connection was refused
 * - `tls`: the certificate is not trusted, or the response is not TLS
 * - `timeout`: no response in time
 * - `cors`: the server does not allow requests from the page's origin
 * - `foreign-answer`: the response came from something other than the chat server
 * - `network`: any other network failure
 */
export type UnreachableCause = 'dns' | 'refused' | 'tls' | 'timeout' | 'cors' | 'foreign-answer' | 'network';

interface Explanation {
  readonly reason: UnreachableCause;
  /** The end of a sentence that begins with "cannot be reached"; empty if there is nothing to add. */
  readonly sentence: string;
}

const sentences = {
  dns: ': its name cannot be resolved',
  refused: ': nothing listens there',
  tls: ': its certificate is not trusted',
} as const;

/** Timeout of the CORS probe that {@link isBlockedByBrowser} sends. */
const probeMilliseconds = 5000;

/** Explains why `fetch` failed, based on the thrown error. */
export async function explainFailure(fetch: Fetch, url: string, thrown: unknown): Promise<Explanation> {
  const code = codeOf(thrown);
  const reason = code === undefined ? undefined : reasonOfCode(code);
  if (reason === 'tls' && /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/.test(String(code))) {
    return { reason, sentence: `: the server does not use TLS, but possibly plain http (${code})` };
  }
  if (reason !== undefined) return { reason, sentence: `${sentences[reason]} (${code})` };
  if (code === undefined && (await isBlockedByBrowser(fetch, url))) {
    const { origin } = globalThis.location;
    return {
      reason: 'cors',
      sentence: ` from a page of ${origin}: the server's CORS headers do not allow this origin`,
    };
  }
  return { reason: 'network', sentence: code === undefined ? '' : ` (${code})` };
}

/**
 * Returns the error code of the operating system or TLS library. Node puts it into the `cause` of the error that
 * `fetch` throws.
 */
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
 * Returns whether the browser's CORS policy blocks the request. Browsers do not report CORS as the cause of a failure,
 * so this sends a `no-cors` request, whose response the page cannot read. If that request succeeds, the cause is CORS.
 * The request contains no account data.
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
    // The probe also failed, so CORS is not the cause.
    return false;
  } finally {
    clearTimeout(timer);
  }
}
