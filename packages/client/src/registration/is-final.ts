import { ApiError, UnreachableError } from '../chat-api/api-error.js';

/** Returns whether a request needs no retry, because the server has either fulfilled it or permanently refused it. */
export async function isFinal(request: Promise<void>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (error instanceof UnreachableError) return false;
    if (error instanceof ApiError) return error.remedy !== 'retry-later';
    throw error;
  }
}

/**
 * Like {@link isFinal}, for an operation that stock servers do not have. For unknown paths, stock servers return a web
 * page with status 404.
 */
export function isFinalIfKnown(request: Promise<void>): Promise<boolean> {
  const settled = request.catch((error) => {
    if (!(error instanceof UnreachableError && error.httpStatus === 404)) throw error;
  });
  return isFinal(settled);
}
