import type { SignedInAccount } from '@waxwing/client';
import { startPhone } from './push/phone';

const name = 'app.account';

/** Returns the stored account, or `undefined` before the first sign-in. */
export async function readAccount(): Promise<SignedInAccount | undefined> {
  const { storage } = await startPhone();
  const text = await storage.getItem(name);
  return typeof text === 'string' ? (JSON.parse(text) as SignedInAccount) : undefined;
}

/** Exchanges the password for an API key, and stores the account. @throws Error with the server's message. */
export async function signIn(realmUrl: string, username: string, password: string): Promise<SignedInAccount> {
  const answer = await fetch(`${realmUrl}/api/v1/fetch_api_key`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `username=${encodeURIComponent(username)}&password=${encodeURIComponent(password)}`,
  });
  const { result, msg, api_key, email, user_id } = await answer.json();
  if (result !== 'success') throw new Error(String(msg));
  const account = { realmUrl, userId: Number(user_id), email: String(email), apiKey: String(api_key) };
  const { storage } = await startPhone();
  await storage.setItem(name, JSON.stringify(account));
  return account;
}

/** Removes the stored account. */
export async function forgetAccount(): Promise<void> {
  const { storage } = await startPhone();
  await storage.removeItem(name);
}
