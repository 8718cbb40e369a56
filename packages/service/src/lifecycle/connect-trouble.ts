/** The step at which a connection failed: name resolution, the connection itself, or TLS. */
export type ConnectStep = 'dns' | 'connection' | 'tls';

interface Trouble {
  readonly step: ConnectStep;
  readonly what: string;
  readonly remedy: string;
}

const otherName: Trouble = {
  step: 'tls',
  what: 'its certificate is for another name',
  remedy: 'use the name in the certificate, or get a certificate for this name',
};
const noTls: Trouble = {
  step: 'tls',
  what: 'the service there does not use TLS',
  remedy: 'use http:// if that is intended, or the TLS port',
};
const unreachable: Trouble = {
  step: 'connection',
  what: 'there is no route to it, or it does not answer',
  remedy: 'check the address, the network and the firewall',
};
const unknownName: Trouble = {
  step: 'dns',
  what: 'its name cannot be resolved',
  remedy: 'correct the name, or check DNS on this machine',
};
const hangsUp: Trouble = {
  step: 'connection',
  what: 'it closes the connection',
  remedy: 'check the address, and that both sides use TLS or neither does',
};

// Error codes of Node, OpenSSL (https://nodejs.org/api/tls.html#x509-certificate-error-codes) and undici.
const troubles: Readonly<Record<string, Trouble>> = {
  CERT_HAS_EXPIRED: {
    step: 'tls',
    what: 'its certificate has expired',
    remedy: 'renew it, and check that the clock of this machine is correct',
  },
  CERT_NOT_YET_VALID: {
    step: 'tls',
    what: 'its certificate is not valid yet',
    remedy: 'check that the clock of this machine is correct',
  },
  CERT_REVOKED: { step: 'tls', what: 'its certificate was revoked', remedy: 'get a new certificate' },
  ERR_TLS_CERT_ALTNAME_INVALID: otherName,
  HOSTNAME_MISMATCH: otherName,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  HPE_INVALID_CONSTANT: {
    step: 'connection',
    what: 'the service there does not use plain HTTP',
    remedy: 'use https:// if it uses TLS',
  },
  ECONNREFUSED: {
    step: 'connection',
    what: 'nothing listens there',
    remedy: 'check the address, and that the service is running',
  },
  ENOTFOUND: unknownName,
  EAI_AGAIN: unknownName,
  ETIMEDOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  UND_ERR_CONNECT_TIMEOUT: unreachable,
  ECONNRESET: hangsUp,
  EPIPE: hangsUp,
  UND_ERR_SOCKET: hangsUp,
};

/** A certificate from an untrusted certificate authority. Many error codes report this problem. */
const untrusted: Trouble = {
  step: 'tls',
  what: 'its certificate is not from a certificate authority that this machine trusts',
  remedy:
    'for a private certificate authority, start this program with NODE_EXTRA_CA_CERTS set to its PEM file',
};
const certificateCodes = /CERT|VERIFY|ISSUER|INVALID_(?:CA|PURPOSE)|PATH_LENGTH|CRL/;
const noHandshake: Trouble = {
  step: 'tls',
  what: 'the two sides cannot agree on TLS parameters',
  remedy: 'check which versions of TLS and which certificates it accepts',
};

/** The reason for a failed connection. */
export interface ConnectTrouble {
  readonly step: ConnectStep;
  /** A description of the problem, with the error code to search for. */
  readonly what: string;
  readonly remedy: string;
}

/**
 * Determines the reason for a failed connection. Returns `undefined` if the error is not a connection error.
 * `authoritiesSetting` is the name of the setting for additional certificate authorities, if the program has one.
 */
export function findConnectTrouble(error: unknown, authoritiesSetting?: string): ConnectTrouble | undefined {
  const { code = '', message = '' } = (error ?? {}) as NodeJS.ErrnoException;
  const known = Object.hasOwn(troubles, code) ? troubles[code] : undefined;
  const trouble =
    known ??
    (certificateCodes.test(code) ? untrusted : undefined) ??
    (/^(?:ERR_SSL_|ERR_TLS_|EPROTO$)/.test(code) ? noHandshake : undefined);
  if (trouble === undefined) return undefined;
  // Apple's and Google's hosts refuse a handshake with an alert, which appears only in the error message.
  const detail = trouble === noHandshake && message !== '' ? `${code}, ${message.trim()}` : code;
  const remedy =
    trouble === untrusted && authoritiesSetting !== undefined
      ? `for a private certificate authority, set ${authoritiesSetting} to its PEM file`
      : trouble.remedy;
  return { step: trouble.step, what: `${trouble.what} (${detail})`, remedy };
}

/**
 * Describes a failed connection as the end of a sentence: the problem, the error code to search for, and what to do.
 * Returns `undefined` if the error is not a connection error.
 */
export function describeConnectTrouble(error: unknown, authoritiesSetting?: string): string | undefined {
  const trouble = findConnectTrouble(error, authoritiesSetting);
  return trouble && `${trouble.what}: ${trouble.remedy}`;
}
