import { createHmac, generateKeyPairSync } from 'node:crypto';
import { importPKCS8, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AssertionChanges,
  makeAssertion,
  readServiceAccount,
  requestAccessToken,
  startTestVendors,
  type TestVendors,
} from './vendor-clients.js';

describe("Google's token endpoint", () => {
  let test: TestVendors;
  let nowSeconds: number;

  beforeAll(async () => {
    test = await startTestVendors();
    nowSeconds = Math.floor(test.clock.milliseconds / 1000);
  });
  afterAll(() => test.close());

  async function refusal(response: Response): Promise<unknown> {
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    return { status: response.status, ...((await response.json()) as object) };
  }

  it('issues an access token for an hour to the service account', async () => {
    const response = await requestAccessToken(test, await makeAssertion(test));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      access_token: expect.stringMatching(/^ya29\.[\w-]{64}$/),
      expires_in: 3600,
      token_type: 'Bearer',
    });
  });

  it('accepts an assertion from a JWT library', async () => {
    const account = await readServiceAccount(test);
    const assertion = await new SignJWT({ scope: 'https://www.googleapis.com/auth/firebase.messaging' })
      .setProtectedHeader({ alg: 'RS256', kid: account.private_key_id })
      .setIssuer(account.client_email)
      .setAudience(account.token_uri)
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + 3600)
      .sign(await importPKCS8(account.private_key, 'RS256'));
    expect((await requestAccessToken(test, assertion)).status).toBe(200);
  });

  it('accepts an assertion without a key id, or with the wider scope', async () => {
    const withoutKid = await makeAssertion(test, { header: { kid: undefined } });
    expect((await requestAccessToken(test, withoutKid)).status).toBe(200);
    const scope = 'openid https://www.googleapis.com/auth/cloud-platform';
    expect((await requestAccessToken(test, await makeAssertion(test, { claims: { scope } }))).status).toBe(
      200,
    );
  });

  const otherKey = () =>
    generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    }).privateKey;
  const badTimes = /^Invalid JWT: Token must be a short-lived token \(60 minutes\)/;
  const refused: [string, () => AssertionChanges, string, RegExp][] = [
    [
      'is signed with another key',
      () => ({ privateKey: otherKey() }),
      'invalid_grant',
      /^Invalid JWT Signature\.$/,
    ],
    ['names another key', () => ({ header: { kid: 'ff' } }), 'invalid_grant', /^Invalid JWT Signature\.$/],
    ['has the algorithm RS384', () => ({ header: { alg: 'RS384' } }), 'invalid_grant', /must be RS256/],
    ['has the algorithm none', () => ({ header: { alg: 'none' } }), 'invalid_grant', /must be RS256/],
    [
      'is from another account',
      () => ({ claims: { iss: 'x@y.example' } }),
      'invalid_grant',
      /account not found/,
    ],
    ['has no issuer', () => ({ claims: { iss: undefined } }), 'invalid_grant', /account not found/],
    [
      'is for another audience',
      () => ({ claims: { aud: 'https://oauth2.googleapis.com/token' } }),
      'invalid_grant',
      /Failed audience check. The right audience is http:\/\/127\.0\.0\.1/,
    ],
    ['has no scope', () => ({ claims: { scope: undefined } }), 'invalid_scope', /Empty or missing scope/],
    [
      'is for another scope',
      () => ({ claims: { scope: 'https://www.googleapis.com/auth/drive' } }),
      'invalid_scope',
      /firebase\.messaging is needed/,
    ],
    ['has no iat', () => ({ claims: { iat: undefined } }), 'invalid_grant', badTimes],
    ['has no exp', () => ({ claims: { exp: undefined } }), 'invalid_grant', badTimes],
    ['has a string for iat', () => ({ claims: { iat: 'now' } }), 'invalid_grant', badTimes],
    [
      'is valid for more than an hour',
      () => ({ claims: { exp: nowSeconds + 3601 } }),
      'invalid_grant',
      badTimes,
    ],
    [
      'is dated more than five minutes in the future',
      () => ({ claims: { iat: nowSeconds + 301, exp: nowSeconds + 900 } }),
      'invalid_grant',
      badTimes,
    ],
    [
      'expired more than five minutes ago',
      () => ({ claims: { iat: nowSeconds - 3900, exp: nowSeconds - 300 } }),
      'invalid_grant',
      badTimes,
    ],
    [
      'expires before it is issued',
      () => ({ claims: { iat: nowSeconds, exp: nowSeconds - 1 } }),
      'invalid_grant',
      badTimes,
    ],
  ];
  for (const [what, changes, error, description] of refused) {
    it(`refuses an assertion that ${what}`, async () => {
      const response = await requestAccessToken(test, await makeAssertion(test, changes()));
      expect(await refusal(response)).toEqual({
        status: 400,
        error,
        error_description: expect.stringMatching(description),
      });
    });
  }

  it('tolerates a clock difference of five minutes', async () => {
    for (const claims of [
      { iat: nowSeconds + 300, exp: nowSeconds + 3900 },
      { iat: nowSeconds - 3899, exp: nowSeconds - 299 },
    ]) {
      expect((await requestAccessToken(test, await makeAssertion(test, { claims }))).status).toBe(200);
    }
  });

  it('refuses an assertion whose claims were changed after signing', async () => {
    const [header, claims, signature] = (await makeAssertion(test)).split('.');
    const changed = {
      ...JSON.parse(Buffer.from(claims ?? '', 'base64url').toString()),
      exp: nowSeconds + 60,
    };
    const forged = `${header}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`;
    expect(await refusal(await requestAccessToken(test, forged))).toMatchObject({
      status: 400,
      error_description: 'Invalid JWT Signature.',
    });
  });

  it('refuses an HMAC signature', async () => {
    const [, claims] = (await makeAssertion(test)).split('.');
    const header = Buffer.from('{"alg":"HS256"}').toString('base64url');
    const signature = createHmac('sha256', 'public key').update(`${header}.${claims}`).digest('base64url');
    const response = await requestAccessToken(test, `${header}.${claims}.${signature}`);
    expect(await refusal(response)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('refuses an assertion that is not a JSON Web Token', async () => {
    const list = Buffer.from('[]').toString('base64url');
    for (const assertion of ['x', 'a.b', 'a.b.c', 'e30=.e30.AA', 'e30..AA', `e30.${list}.AA`]) {
      const response = await requestAccessToken(test, assertion);
      expect(await refusal(response)).toEqual({
        status: 400,
        error: 'invalid_grant',
        error_description: 'Invalid JWT: the assertion is not a JSON Web Token.',
      });
    }
  });

  const post = (body: string, type = 'application/x-www-form-urlencoded') =>
    fetch(`${test.vendors.urls.http}/token`, { method: 'POST', body, headers: { 'content-type': type } });

  it('refuses malformed requests and other grant types, each with its own error', async () => {
    expect(await refusal(await post('assertion=x'))).toMatchObject({ status: 400, error: 'invalid_request' });
    expect(await refusal(await post('grant_type=password&assertion=x'))).toEqual({
      status: 400,
      error: 'unsupported_grant_type',
      error_description: 'Invalid grant_type: password',
    });
    const grant = 'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer';
    expect(await refusal(await post(grant))).toMatchObject({
      error: 'invalid_request',
      error_description: 'Required parameter is missing: assertion',
    });
    expect(await refusal(await post('{}', 'application/json'))).toMatchObject({ error: 'invalid_request' });
    expect(await refusal(await post(`${grant}&assertion=${'x'.repeat(65_536)}`))).toMatchObject({
      error: 'invalid_request',
    });
    const response = await fetch(`${test.vendors.urls.http}/token`);
    expect(await refusal(response)).toMatchObject({
      status: 400,
      error_description: 'The method must be POST',
    });
  });

  it('logs the reason for a refusal without the assertion', async () => {
    const assertion = await makeAssertion(test, { claims: { iss: 'x@y.example' } });
    await requestAccessToken(test, assertion);
    expect(test.log.at(-1)).toBe(
      'oauth: refused with invalid_grant, because: Invalid grant: account not found',
    );
    expect(test.log.join('\n')).not.toContain(assertion);
  });
});
