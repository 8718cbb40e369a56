import type { OpenedRegistration } from '../opening/open-registration.js';
import type { RegistrationOutcome, RegistrationStore } from '../opening/registration-batches.js';
import type { NewRelayDevice } from '../store/relay-device.js';
import { bindingOfToken, type TokenVault } from '../store/token-vault.js';
import type { RegistrationToWrite, RegistrationWriter } from './registration-writer.js';

export interface DurableRegistrationsOptions {
  readonly tokenVault: TokenVault;
  readonly writer: RegistrationWriter;
}

/** Implements {@link RegistrationStore} with the relay's database. Encrypts the tokens. */
export class DurableRegistrations implements RegistrationStore {
  readonly #options: DurableRegistrationsOptions;

  constructor(options: DurableRegistrationsOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#options.writer.isIdle;
  }

  saveAll(
    registrations: readonly OpenedRegistration[],
    now: number,
  ): Promise<readonly RegistrationOutcome[]> {
    const { tokenVault, writer } = this.#options;
    const toWrite = registrations.map(({ device, bouncerPublicKey, mark, sequence }) => {
      // Avoids a spread, which costs microseconds per property: too much for thousands of registrations per second.
      const { row, olderLookups } = toRow(device, tokenVault);
      return { row, olderLookups, bouncerPublicKey, mark, sequence };
    });
    return writer.write(toWrite, now);
  }
}

/**
 * Maximum lead of a stored registration date over the relay's clock. A date further ahead would protect the device from
 * a revocation that the phone sends after its clock is corrected.
 */
const aheadMilliseconds = 5 * 60_000;

/** Returns the row of a device with its token encrypted, and the lookups that an older row of the device may have. */
export function toRow(
  { realmId, addressee, target, registeredAt, datedAt }: NewRelayDevice,
  vault: TokenVault,
): Pick<RegistrationToWrite, 'row' | 'olderLookups'> {
  const isApns = target.tokenKind === 'apns';
  const [lookup, ...olderLookups] = vault.lookups(target.token);
  const identity = {
    realm_id: realmId,
    push_account_id: addressee,
    token_lookup: lookup,
  };
  const row = Object.assign(identity, {
    token_kind: target.tokenKind,
    token: vault.seal(target.token, bindingOfToken(identity)),
    ios_app_id: isApns ? target.iosAppId : null,
    apns_environment: isApns ? target.apnsEnvironment : null,
    registered_at: registeredAt,
    dated_at: datedAt > registeredAt + aheadMilliseconds ? registeredAt : datedAt,
    expired_at: null,
  });
  return { row, olderLookups };
}
