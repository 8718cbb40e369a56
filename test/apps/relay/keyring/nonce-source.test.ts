import { expect, it } from 'vitest';
import { createNonceSource } from '#relay/keyring/tokens/nonce-source.js';

it('a nonce source never returns a nonce twice, and never changes a returned nonce', () => {
  const next = createNonceSource(12);
  const nonces = Array.from({ length: 5000 }, () => next());
  const texts = nonces.map((nonce) => nonce.toString('hex'));
  expect(new Set(texts).size).toBe(5000);
  expect(nonces.every((nonce) => nonce.length === 12)).toBe(true);
  for (let more = 0; more < 5000; more += 1) next();
  expect(nonces.map((nonce) => nonce.toString('hex'))).toEqual(texts);
});
