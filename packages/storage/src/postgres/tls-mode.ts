import { DatabaseUnusableError } from '../database-unusable-error.js';

const modePattern = /(?<=[?&]sslmode=)[^&#]*/;
/** The driver checks the certificate in these too, with a warning that a later version of it will not. */
const strictModes: readonly string[] = ['prefer', 'require', 'verify-ca'];
const knownModes: readonly string[] = ['disable', 'no-verify', 'verify-full', ...strictModes];

/**
 * A database URL with its `sslmode` as the driver takes it without doubt: whatever asks for TLS checks the certificate,
 * but `no-verify`.
 * @throws DatabaseUnusableError for a mode that there is not, which the driver would take for one that it has.
 */
export function withPlainTlsMode(url: string): string {
  const mode = modePattern.exec(url)?.[0];
  if (mode === undefined || /[?&]uselibpqcompat=true/.test(url)) return url;
  if (!knownModes.includes(mode)) {
    throw new DatabaseUnusableError(
      `The database URL has sslmode=${mode}, which there is not: write sslmode=verify-full for TLS, or disable for none.`,
    );
  }
  return strictModes.includes(mode) ? url.replace(modePattern, 'verify-full') : url;
}
