interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

/** Starts the page's service worker if it is not running, and returns it. @throws Error without service worker support. */
export async function startWorker(): Promise<ServiceWorkerRegistration> {
  if (!('serviceWorker' in navigator)) throw new Error('This browser has no service workers.');
  await navigator.serviceWorker.register(trusted('worker.js'));
  return navigator.serviceWorker.ready;
}

/** Returns a script URL that the page's Content-Security-Policy accepts. The policy refuses plain strings. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy('worker', { createScriptURL: (given) => given });
  return policy === undefined ? url : policy.createScriptURL(url);
}
