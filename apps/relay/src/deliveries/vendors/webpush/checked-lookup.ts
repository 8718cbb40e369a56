import { type LookupAddress, promises } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../../../network/public-addresses.js';

/** Resolves a name to all its addresses. Rejects if the name has no address. */
export type ResolveName = (name: string) => Promise<readonly LookupAddress[]>;

/** Error for a name with a non-public address, to which the relay must not connect. */
export class ForbiddenAddressError extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';
}

const timeoutMilliseconds = 2000;

/**
 * Resolves a name by querying the name servers directly. The system's resolver would block a thread in Node's pool
 * until the name server answers, and a phone can choose a name whose name server is slow.
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

/** Resolves a host in the operator's settings. Uses the system's resolver, which also reads the hosts file. */
export function resolvePrivateName(name: string): Promise<readonly LookupAddress[]> {
  return promises.lookup(name, { all: true });
}

/**
 * Returns the `lookup` function for a socket. Fails unless all addresses are public or `mayBePrivate` is true. The
 * socket connects only to the checked addresses, because a second lookup could return others.
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
