import { randomBytes } from 'node:crypto';

/** Generates request ids that are unique across processes. */
export function requestIds(): () => string {
  const prefix = randomBytes(4).toString('hex');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}
