/** The id that Firebase gives an app's installation. A registration token begins with one, and goes on with a colon. */
const installationId = /^[cdef][\w-]{21}$/;

/**
 * Whether a token is a Firebase installation id, which apps register with that turned it on, and not a registration token.
 * https://firebase.google.com/docs/projects/manage-installations
 */
export function isInstallationId(token: string): boolean {
  return installationId.test(token);
}
