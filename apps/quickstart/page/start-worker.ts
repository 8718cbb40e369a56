interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

/** Starts the page's service worker, or returns the one that runs. @throws Error in a browser without service workers. */
export async function startWorker(): Promise<ServiceWorkerRegistration> {
  if (!('serviceWorker' in navigator)) throw new Error('This browser has no service workers.');
  await navigator.serviceWorker.register(trusted('worker.js'));
  return navigator.serviceWorker.ready;
}

/** The page's policy accepts no plain text as a script's URL. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy('worker', { createScriptURL: (given) => given });
  return policy === undefined ? url : policy.createScriptURL(url);
}
