/** Format of a Firebase installation id. A registration token is an installation id, a colon and more characters. */
const installationId = /^[cdef][\w-]{21}$/;

/**
 * Whether a token is a Firebase installation id and not a registration token. Apps that opted in register with
 * installation ids. https://firebase.google.com/docs/projects/manage-installations
 */
export function isInstallationId(token: string): boolean {
  return installationId.test(token);
}
