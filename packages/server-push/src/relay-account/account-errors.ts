import type { KeyListRefusal } from '@waxwing/protocol';
import type { AdminNames } from '../admin-names.js';
import { capitalized } from '../capitalized.js';
import type { RelayRefusal, RelayRetry } from '../relay-link/relay-answer.js';

/** Error about a relay account that cannot be used or changed. */
export class PushAccountError extends Error {
  /** The problem, without a final period. */
  readonly problem: string;
  readonly remedy: string;

  constructor(problem: string, remedy: string) {
    super(`${problem}: ${remedy}.`);
    this.name = 'PushAccountError';
    this.problem = problem;
    this.remedy = remedy;
  }
}

type NotAccepted = RelayRefusal | RelayRetry;

interface Joining {
  readonly url: string;
  readonly hostname: string;
  readonly contactEmail: string;
}

/** Explains why a relay did not register the server. */
export function joinRefusal(
  outcome: NotAccepted,
  { url, hostname, contactEmail }: Joining,
  { prefix }: AdminNames,
): PushAccountError {
  if (outcome.kind === 'retry') {
    const isRefusal = outcome.httpStatus !== undefined && outcome.httpStatus < 500;
    const remedy = isRefusal
      ? "ask the relay's operator to reactivate this server"
      : 'run the command again; it continues with the same credentials';
    return new PushAccountError(capitalized(outcome.reason), remedy);
  }
  const { code, message } = outcome;
  if (code === 'NOT_FOUND') {
    return new PushAccountError(
      `${url} does not register servers`,
      `check --relay, or ask the operator to add this server and set the ${prefix}RELAY_ settings`,
    );
  }
  const said = `The relay refuses to register this server: ${withoutFullStop(message)}`;
  if (code === 'HOSTNAME_ALREADY_IN_USE_BOUNCER_ERROR') {
    const remedy = `if ${hostname} is this server, take its registration over with --transfer; otherwise set another host with --hostname`;
    return new PushAccountError(said, remedy);
  }
  if (/no new servers/.test(message)) {
    return new PushAccountError(said, `then set the ${prefix}RELAY_ settings to what the operator gives you`);
  }
  return new PushAccountError(said, `${whatToCorrect(message, contactEmail)}, and run the command again`);
}

/** Says what the admin should correct. Relays refuse all these cases with the same code. */
function whatToCorrect(message: string, contactEmail: string): string {
  if (/email/.test(message)) return `set an address other than "${contactEmail}" with --contact`;
  if (/invitation/.test(message)) return 'pass the code with --invitation';
  return 'correct --invitation, --hostname or --contact';
}

/** Explains why a relay did not transfer a host's registration to this server. */
export function transferRefusal(
  outcome: NotAccepted,
  { url, hostname }: Pick<Joining, 'url' | 'hostname'>,
): PushAccountError {
  if (outcome.kind === 'retry') {
    const mayReturn = outcome.httpStatus !== 401 && outcome.httpStatus !== 403;
    const remedy = mayReturn
      ? 'run the command again'
      : "ask the relay's operator to reactivate this server (waxwing-relay servers resume), then run the command again";
    return new PushAccountError(`No transfer, because ${outcome.reason}`, remedy);
  }
  const { code, message } = outcome;
  if (code === 'NOT_FOUND') {
    return new PushAccountError(
      `${url} does not transfer servers`,
      'check --relay, or join without --transfer',
    );
  }
  const said = `The relay does not transfer ${hostname}: ${withoutFullStop(message)}`;
  if (/not yet registered|not found/.test(message)) {
    return new PushAccountError(said, 'check --hostname, or join without --transfer');
  }
  if (/public address/.test(message)) {
    const remedy = `name a public host with --hostname, or ask the relay's operator for RELAY_SERVER_REGISTRATION_PRIVATE_HOSTS=on`;
    return new PushAccountError(said, remedy);
  }
  const remedy = `let https://${hostname} reach this server, start it if it does not run, then run the command again`;
  return new PushAccountError(said, remedy);
}

/** Explains why a relay did not accept the organization. */
export function realmRefusal(
  outcome: NotAccepted,
  { url, realmUuid }: { readonly url: string; readonly realmUuid: string },
): PushAccountError {
  if (outcome.kind === 'retry') {
    return new PushAccountError(capitalized(outcome.reason), 'run the command again');
  }
  return new PushAccountError(
    `${url} does not accept the organization ${realmUuid}: ${withoutFullStop(outcome.message)}`,
    "ask the relay's operator to remove the former server of this organization",
  );
}

const keyListTroubles: Partial<Record<KeyListRefusal, string>> = {
  'unknown-signing-key': 'is signed by a key without a chain of endorsements from the pinned key',
  'bad-signature': 'has an invalid signature',
  expired: 'has expired',
  'issued-in-the-future': "is dated later than this server's clock",
};

/** Describes a problem with a key list, as the end of a sentence. */
export function describeKeyListTrouble(reason: KeyListRefusal): string {
  return keyListTroubles[reason] ?? `is not valid (${reason})`;
}

/** Explains why the relay's key list is not trusted. */
export function pinRefusal(reason: KeyListRefusal, url: string, { push }: AdminNames): PushAccountError {
  const remedy =
    reason === 'unknown-signing-key'
      ? `ask its operator whether the signing key was replaced; if so, run "${push} disable --forget" first`
      : 'ask its operator to run waxwing-relay keys verify';
  return new PushAccountError(`The key list of ${url} ${describeKeyListTrouble(reason)}`, remedy);
}

/** Explains why the relay's key list could not be fetched. */
export function keyListTrouble({ reason }: RelayRetry): PushAccountError {
  return new PushAccountError(capitalized(reason), 'run the command again');
}

/**
 * Explains that the relay publishes no key list although its signing key is pinned. Accepting this would let a relay
 * undo the pinning by hiding its list.
 */
export function lostKeyList(url: string, { push }: AdminNames): PushAccountError {
  return new PushAccountError(
    `${url} no longer publishes a key list, but its signing key is pinned`,
    `ask its operator; if that is intended, run "${push} disable --forget" first`,
  );
}

function withoutFullStop(text: string): string {
  return text.replace(/\.$/, '');
}
