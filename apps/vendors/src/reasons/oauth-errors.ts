interface OAuthError {
  readonly httpStatus: number;
  readonly description: string;
}

/**
 * All errors of Google's token endpoint. The first error with an HTTP status is the default for that status.
 * RFC 6749 section 5.2 and https://developers.google.com/identity/protocols/oauth2/service-account#error-codes
 */
export const oauthErrors = {
  invalid_grant: { httpStatus: 400, description: 'Invalid JWT Signature.' },
  invalid_request: { httpStatus: 400, description: 'Bad Request' },
  invalid_scope: { httpStatus: 400, description: 'Invalid OAuth scope or ID token audience provided.' },
  unsupported_grant_type: { httpStatus: 400, description: 'Invalid grant_type' },
  invalid_client: { httpStatus: 401, description: 'The OAuth client was not found.' },
  deleted_client: { httpStatus: 401, description: 'The OAuth client was deleted.' },
  unauthorized_client: {
    httpStatus: 401,
    description:
      'Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested.',
  },
  access_denied: { httpStatus: 403, description: 'Access denied' },
  rate_limit_exceeded: { httpStatus: 429, description: 'Rate limit exceeded' },
  internal_failure: { httpStatus: 500, description: 'Internal failure' },
  temporarily_unavailable: { httpStatus: 503, description: 'Backend error' },
} as const satisfies Record<string, OAuthError>;

export type OAuthErrorName = keyof typeof oauthErrors;

export function formatOAuthError(name: string, description?: string): string {
  const usual = Object.hasOwn(oauthErrors, name) ? oauthErrors[name as OAuthErrorName].description : name;
  return JSON.stringify({ error: name, error_description: description ?? usual });
}
