import { type LookupAddress, promises } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../../../network/public-addresses.js';

/** Resolves a name to all its addresses. Rejects if there are none. */
export type ResolveName = (name: string) => Promise<readonly LookupAddress[]>;

/** A name has an address that is not public, so that the relay must not connect to it. */
export class ForbiddenAddressError extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';
}

const timeoutMilliseconds = 2000;

/**
 * Asks the name servers themselves. The system's resolver would use a thread of Node's pool for as long as a name server
 * that a phone chose takes to answer.
 */
export async function resolvePublicName(name: string): Promise<readonly LookupAddress[]> {
  const resolver = new promises.Resolver({ timeout: timeoutMilliseconds, tries: 2 });
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length === 0)
    throw four.status === 'rejected' ? four.reason : new Error(`${name}: no address`);
  return addresses;
}

/** Asks the system's resolver, with its hosts file, for a name that the operator listed. */
export function resolvePrivateName(name: string): Promise<readonly LookupAddress[]> {
  return promises.lookup(name, { all: true });
}

/**
 * Returns the lookup of a socket. The socket connects only to the addresses of this one answer, and only if all are
 * public: a second look-up could return others.
 */
export function checkedLookup(resolve: ResolveName, mayBePrivate: boolean): LookupFunction {
  return (name, { all }, found) => {
    resolve(name).then(
      (addresses) => {
        const [first] = addresses;
        const isAllowed = mayBePrivate || addresses.every(({ address }) => isPublicAddress(address));
        if (first === undefined || !isAllowed) {
          found(new ForbiddenAddressError(`${name} has an address that is not public`), '', 0);
        } else if (all) found(null, [...addresses]);
        else found(null, first.address, first.family);
      },
      (error: Error) => found(error, '', 0),
    );
  };
}
