/** Why a request is retried: the relay did not answer, failed or is overloaded, or an admin must fix a fault. */
export type RetryCause = 'unreachable' | 'relay-error' | 'busy' | 'admin-must-act';

/** The `error_code` of a device whose registration failed. */
export type DeviceErrorCode = 'BAD_REQUEST' | 'INVALID_BOUNCER_PUBLIC_KEY' | 'REQUEST_EXPIRED';

/** The check in `push status` that reports a refusal and explains how to fix it. */
type RefusalCheck = 'credentials' | 'realm' | 'permission' | 'quota' | 'relay' | 'devices';

/** How this server handles one error code of a relay. */
export interface RelayCode {
  /** HTTP statuses that a relay sends with this code. With any other status, the response is from another service. */
  readonly statuses: readonly number[];
  /** `final`: a retry would also be refused. Otherwise the cause to record for the retry. */
  readonly taken: 'final' | Extract<RetryCause, 'busy' | 'admin-must-act'>;
  /** Error code of a device if the relay refused its registration with this code, or if retries failed for a day. */
  readonly deviceCode: DeviceErrorCode;
  readonly check: RefusalCheck;
}

const final = (deviceCode: DeviceErrorCode, status = 400): RelayCode => ({
  statuses: [status],
  taken: 'final',
  deviceCode,
  check: 'devices',
});

const retried = (check: RefusalCheck, statuses: readonly number[]): RelayCode => ({
  statuses,
  taken: check === 'quota' ? 'busy' : 'admin-must-act',
  deviceCode: 'REQUEST_EXPIRED',
  check,
});

/** The error codes of a relay (docs/protocol.md#reading-the-relays-answers). */
export const relayCodes: Readonly<Record<string, RelayCode>> = {
  INVALID_BOUNCER_PUBLIC_KEY: final('INVALID_BOUNCER_PUBLIC_KEY'),
  REQUEST_EXPIRED: final('REQUEST_EXPIRED'),
  BAD_REQUEST: final('BAD_REQUEST'),
  REQUEST_VARIABLE_MISSING: final('BAD_REQUEST'),
  REQUEST_VARIABLE_INVALID: final('BAD_REQUEST'),
  REQUEST_CONFUSING_VAR: final('BAD_REQUEST'),
  INVALID_REMOTE_PUSH_DEVICE_TOKEN: final('BAD_REQUEST'),
  PAYLOAD_TOO_LARGE: final('BAD_REQUEST', 413),
  // Final, because only the relay's operator can move the organization. Phones register again after the move.
  REMOTE_REALM_SERVER_MISMATCH_ERROR: { ...final('BAD_REQUEST', 403), check: 'realm' },
  MISSING_REMOTE_REALM: retried('realm', [403]),
  PUSH_NOTIFICATIONS_DISALLOWED: retried('permission', [400]),
  INVALID_ZULIP_SERVER: retried('credentials', [400, 401]),
  UNAUTHORIZED: retried('credentials', [401]),
  RATE_LIMIT_HIT: retried('quota', [429, 503]),
  NOT_FOUND: retried('relay', [404]),
  METHOD_NOT_ALLOWED: retried('relay', [405]),
};

/** Returns the row for a relay's code and status; `undefined` if there is none. */
export function relayCodeOf(code: unknown, status: number): RelayCode | undefined {
  const row = typeof code === 'string' && Object.hasOwn(relayCodes, code) ? relayCodes[code] : undefined;
  return row?.statuses.includes(status) === true ? row : undefined;
}

/** Returns the `error_code` of a device whose registration the relay refused permanently. */
export function deviceErrorCode(code: string): DeviceErrorCode {
  return (Object.hasOwn(relayCodes, code) ? relayCodes[code] : undefined)?.deviceCode ?? 'BAD_REQUEST';
}
