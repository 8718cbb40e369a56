import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { ApiError, get, post, remove, whenSignedOut } from '../api/request.js';
import { sentenceOf } from '../api/resource.js';

/** Whether the administrator is signed in. `reason` says why a session ended. */
export type Session =
  | { readonly kind: 'checking' }
  | { readonly kind: 'signed-in' }
  | { readonly kind: 'signed-out'; readonly reason?: string };

const state: Signal<Session> = signal({ kind: 'checking' });
export const session: ReadonlySignal<Session> = state;

whenSignedOut(() => {
  if (state.value.kind !== 'signed-in') return;
  state.value = { kind: 'signed-out', reason: 'Your session has ended. Sign in again.' };
});

/** Returns whether the session cookie is still valid. @throws ApiError if the program does not answer. */
async function hasSession(signal?: AbortSignal): Promise<boolean> {
  try {
    return (await get<{ expires_at: number | null }>('/session', signal)).expires_at !== null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    throw error;
  }
}

/** Signs the administrator in with the cookie from an earlier sign-in. */
export async function resumeSession(): Promise<void> {
  try {
    state.value = (await hasSession()) ? { kind: 'signed-in' } : { kind: 'signed-out' };
  } catch (error) {
    state.value = { kind: 'signed-out', reason: sentenceOf(error) };
  }
}

/** Shows the sign-in form if the session has ended. @throws ApiError if the program does not answer. */
export async function checkSession(signal: AbortSignal): Promise<void> {
  if (await hasSession(signal)) return;
  state.value = { kind: 'signed-out', reason: 'Your session has ended. Sign in again.' };
}

/** @throws ApiError with the message to show, for example if the token is wrong. */
export async function signIn(token: string): Promise<void> {
  await post('/session', { token });
  state.value = { kind: 'signed-in' };
}

/**
 * @throws ApiError with the message to show. The administrator then stays signed in, because the session may still be
 * valid.
 */
export async function signOut(): Promise<void> {
  try {
    await remove('/session');
  } catch (error) {
    // Ignores a 401, which means that the session has already ended.
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
  }
  state.value = { kind: 'signed-out', reason: 'You have signed out.' };
}
