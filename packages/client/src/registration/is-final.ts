import { ApiError, UnreachableError } from '../chat-api/api-error.js';

/** Whether the server has done what a request asks for, or never will. */
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
