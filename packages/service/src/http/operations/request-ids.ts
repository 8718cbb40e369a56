import { randomBytes } from 'node:crypto';

/** Makes ids of requests, which are unique across processes too. */
export function requestIds(): () => string {
  const prefix = randomBytes(4).toString('hex');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}
