import type { TokenVault } from '../../../registrations/token-vault.js';
import type { RelayDatabase } from '../../../tables.js';

/** How far apart the clocks of two processes may be: a token that much newer than now is not from the future. */
export const clockDifferenceMilliseconds = 60_000;

export interface SharedProviderToken {
  /** The `authorization` header. */
  readonly authorization: string;
  /** Unix milliseconds. */
  readonly mintedAt: number;
}

/** Provider tokens where all processes of a relay find them, sealed. */
export class ProviderTokenStore {
  readonly #database: RelayDatabase;
  readonly #vault: TokenVault;

  constructor(database: RelayDatabase, vault: TokenVault) {
    this.#database = database;
    this.#vault = vault;
  }

  /** The token of a credential; `undefined` when none was minted yet, or it cannot be read, and is then forgotten. */
  async find(credential: string): Promise<SharedProviderToken | undefined> {
    const row = await this.#database.db
      .selectFrom('provider_tokens')
      .selectAll()
      .where('credential', '=', credential)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const authorization = this.#vault.open(row.sealed_token, placeOf(credential));
    if (typeof authorization === 'string') return { authorization, mintedAt: row.minted_at };
    await this.#database.write(({ db }) =>
      db
        .deleteFrom('provider_tokens')
        .where('credential', '=', credential)
        .where('sealed_token', '=', row.sealed_token)
        .execute(),
    );
    return undefined;
  }

  /**
   * Stores `token` unless another process has stored one that was minted after `olderThan`. The answer is the token that
   * stands: of several that mint at once, all use the first. One from the future, by a clock that was set back, gives way.
   */
  async replace(
    credential: string,
    token: SharedProviderToken,
    olderThan: number,
  ): Promise<SharedProviderToken> {
    const row = {
      credential,
      sealed_token: this.#vault.seal(token.authorization, placeOf(credential)),
      minted_at: token.mintedAt,
    };
    const stands = await this.#database.write(async ({ db }) => {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('provider_tokens')
        .values(row)
        .onConflict((conflict) =>
          conflict
            .column('credential')
            .doUpdateSet({ sealed_token: row.sealed_token, minted_at: row.minted_at })
            .where((is) =>
              is.or([
                is('provider_tokens.minted_at', '<=', olderThan),
                is('provider_tokens.minted_at', '>', token.mintedAt + clockDifferenceMilliseconds),
              ]),
            ),
        )
        .executeTakeFirstOrThrow();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    });
    return stands ? token : ((await this.find(credential)) ?? token);
  }
}

function placeOf(credential: string): string {
  return `provider token ${credential}`;
}
