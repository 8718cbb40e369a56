import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Faults } from '../faults/faults.js';
import { actOnFault } from '../http/act-on-fault.js';
import { answerJson, readRequestBody } from '../http/read-and-answer.js';
import { formatOAuthError, oauthErrors } from '../reasons/oauth-errors.js';
import type { RequestCounts } from '../statistics.js';
import type { AccessTokens } from './access-tokens.js';
import { type OAuthRefusal, type ServiceAccount, verifyAssertion } from './verify-assertion.js';

export interface TokenEndpointContext {
  readonly serviceAccount: ServiceAccount;
  readonly accessTokens: AccessTokens;
  readonly faults: Faults;
  readonly counts: RequestCounts;
  readonly clock: () => number;
  readonly log: (message: string) => void;
  tokenUri(): string;
}

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const maximumBodyBytes = 64 * 1024;

/**
 * Handles `POST /token`: issues an access token for a service account's signed assertion (RFC 7523 section 2.1 and
 * RFC 6749 section 5).
 */
export function handleTokenRequest(
  request: IncomingMessage,
  response: ServerResponse,
  context: TokenEndpointContext,
): void {
  const { accessTokens, faults, counts, log } = context;
  counts.requests += 1;
  readRequestBody(request, maximumBodyBytes, (body) => {
    const refusal = checkTokenRequest(request, body, context);
    if (refusal) {
      log(`oauth: refused with ${refusal.error}, because: ${refusal.description}`);
      const { httpStatus } = oauthErrors[refusal.error];
      counts.countAnswer(`${httpStatus} ${refusal.error}`);
      answerJson(response, httpStatus, formatOAuthError(refusal.error, refusal.description));
      return;
    }
    actOnFault({
      request,
      response,
      counts,
      verdict: faults.decide({ vendor: 'oauth' }),
      process() {},
      answerSuccess() {
        counts.countAnswer('200');
        const lifetimeSeconds = faults.accessTokenSeconds;
        const accessToken = accessTokens.issue(lifetimeSeconds);
        const answer = { access_token: accessToken, expires_in: lifetimeSeconds, token_type: 'Bearer' };
        answerJson(response, 200, JSON.stringify(answer), { 'cache-control': 'no-store' });
      },
      answerFault({ status, reason, message, body: rawBody, retryAfter }) {
        counts.countAnswer(`${status} ${reason}`);
        const headers = retryAfter === undefined ? undefined : { 'retry-after': retryAfter };
        answerJson(response, status, rawBody ?? formatOAuthError(reason, message), headers);
      },
    });
  });
}

function checkTokenRequest(
  request: IncomingMessage,
  body: Buffer | undefined,
  { serviceAccount, tokenUri, clock }: TokenEndpointContext,
): OAuthRefusal | undefined {
  if (request.method !== 'POST') return invalidRequest('The method must be POST');
  if (body === undefined) return invalidRequest(`The request is longer than ${maximumBodyBytes} bytes`);
  const [contentType = ''] = (request.headers['content-type'] ?? '').split(';');
  if (contentType.trim().toLowerCase() !== 'application/x-www-form-urlencoded') {
    return invalidRequest('The Content-Type must be application/x-www-form-urlencoded');
  }
  const form = new URLSearchParams(body.toString('utf8'));
  const grantType = form.get('grant_type');
  if (!grantType) return invalidRequest('Required parameter is missing: grant_type');
  if (grantType !== jwtBearer) {
    return { error: 'unsupported_grant_type', description: `Invalid grant_type: ${grantType}` };
  }
  const assertion = form.get('assertion');
  if (!assertion) return invalidRequest('Required parameter is missing: assertion');
  return verifyAssertion(assertion, { serviceAccount, tokenUri: tokenUri(), nowMilliseconds: clock() });
}

function invalidRequest(description: string): OAuthRefusal {
  return { error: 'invalid_request', description };
}
