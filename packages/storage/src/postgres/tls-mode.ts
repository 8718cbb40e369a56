import { DatabaseUnusableError } from '../database-unusable-error.js';

const modePattern = /(?<=[?&]sslmode=)[^&#]*/;
/** In these modes the driver verifies certificates, but warns that a later version will not. */
const strictModes: readonly string[] = ['prefer', 'require', 'verify-ca'];
const knownModes: readonly string[] = ['disable', 'no-verify', 'verify-full', ...strictModes];

/**
 * Makes a database URL's `sslmode` unambiguous for the driver: all modes with TLS verify the certificate, except
 * `no-verify`.
 *
 * @throws DatabaseUnusableError for an unknown mode, which the driver would misread as a known one
 */
export function withPlainTlsMode(url: string): string {
  const mode = modePattern.exec(url)?.[0];
  if (mode === undefined || /[?&]uselibpqcompat=true/.test(url)) return url;
  if (!knownModes.includes(mode)) {
    // A mistyped value may be followed by a password, so it is not shown.
    const shown = /^[\w-]*$/.test(mode) ? mode : '…';
    throw new DatabaseUnusableError(
      `The database URL has sslmode=${shown}, which does not exist: write sslmode=verify-full for TLS, or disable for none.`,
    );
  }
  return strictModes.includes(mode) ? url.replace(modePattern, 'verify-full') : url;
}
