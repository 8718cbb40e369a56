import {
  parseJsonOrUndefined,
  relayNotifyPath,
  relayRegisterManyPath,
  relayRegisterPath,
} from '@waxwing/protocol';
import { type RelayReaction, type RelayRequest, RelayStandIn } from './relay-stand-in.js';

/** A push that the relay passed to a vendor. */
export interface Delivery {
  readonly tokenId: string | undefined;
  readonly deviceId: number | undefined;
  readonly keyId: number | undefined;
  readonly encryptedData: string;
}

interface Registration {
  readonly token_id?: string;
  readonly push_account_id?: number;
  readonly encrypted_push_registration?: string;
  readonly accounts_of_user?: readonly number[];
  readonly token_ids_of_user?: readonly string[];
}

interface NotifyEntry {
  readonly token_id?: string;
  readonly device_id?: number;
  readonly payload: { readonly push_key_id?: number; readonly encrypted_data: string };
}

const success = { result: 'success', msg: '' };

/**
 * A relay's HTTP interface that stores tokens of the newer generation. Keeps a registration until it is removed or its
 * token is dead. Also accepts devices of the older generation, and assigns ids to them.
 */
export class TokenRelay {
  readonly stand: RelayStandIn;
  readonly tokens = new Set<string>();
  readonly deliveries: Delivery[] = [];
  /** Token ids in removal requests, in order of arrival. */
  readonly removed: string[] = [];
  /** Keys in requests that end keys, each as a token id and a key id, in order of arrival. */
  readonly ended: string[] = [];
  /** Older-generation accounts by token id, to compare with the accounts that the server sends. */
  readonly accountsOfToken = new Map<string, readonly number[]>();
  /** Groups of token ids, each for different spellings of one token. */
  readonly spellings: (readonly string[])[] = [];
  isDown = false;
  /** Ciphertexts of registrations that the relay permanently refuses. */
  readonly refusedTexts = new Set<string>();
  /** If set, the relay refuses registrations with this code. */
  refusal: string | undefined;
  /** Wraps the relay's handling of a request. `react` calls the relay. */
  around: (request: RelayRequest, react: () => RelayReaction) => RelayReaction | Promise<RelayReaction> = (
    _,
    react,
  ) => react();
  #devices = 0;
  readonly #accounts = new Set<number>();

  private constructor(stand: RelayStandIn) {
    this.stand = stand;
    stand.otherwise((request) => this.around(request, () => this.#react(request)));
  }

  static async start({ takesMany = true } = {}): Promise<TokenRelay> {
    return new TokenRelay(await RelayStandIn.start({ takesMany }));
  }

  #react(request: RelayRequest): RelayReaction {
    if (this.isDown) return { status: 503 };
    if (request.path === relayNotifyPath) return this.#notify(request);
    if (request.path === relayRegisterManyPath) {
      const { registrations } = JSON.parse(request.body) as { registrations: Registration[] };
      const results = registrations.map((registration) => this.#register(registration));
      return { status: 200, body: { ...success, results } };
    }
    const form = new URLSearchParams(request.body);
    if (request.path === relayRegisterPath) {
      const fields = [...form].map(([name, text]) => {
        return [
          name,
          name.endsWith('_of_user') || name === 'push_account_id' ? parseJsonOrUndefined(text) : text,
        ];
      });
      const body = this.#register(Object.fromEntries(fields));
      return { status: body.result === 'success' ? 200 : 400, body };
    }
    for (const id of JSON.parse(form.get('token_ids') ?? '[]') as string[]) {
      this.removed.push(id);
      this.tokens.delete(id);
    }
    const ended = JSON.parse(form.get('ended_keys') ?? '[]') as { token_id: string; push_key_id: number }[];
    this.ended.push(...ended.map(({ token_id, push_key_id }) => `${token_id} ${push_key_id}`));
    return { status: 200, body: success };
  }

  #register(registration: Registration): Record<string, unknown> {
    const { token_id: tokenId, push_account_id: account } = registration;
    const isRefused = this.refusedTexts.has(registration.encrypted_push_registration ?? '');
    if (isRefused) return { result: 'error', msg: 'no', code: 'BAD_REQUEST' };
    if (this.refusal !== undefined) return { result: 'error', msg: 'no', code: this.refusal };
    if (tokenId !== undefined) this.tokens.add(tokenId);
    else this.#devices += 1;
    if (account !== undefined) this.#accounts.add(account);
    const ids = [...this.accountsOfToken].flatMap(([id, accounts]) =>
      account !== undefined && accounts.includes(account) ? [id] : [],
    );
    const own = (tokenId === undefined ? ids : [tokenId]).flatMap(
      (id) => this.spellings.find((list) => list.includes(id)) ?? [id],
    );
    const accounts = own.flatMap((id) => this.accountsOfToken.get(id) ?? []);
    const { accounts_of_user = [], token_ids_of_user = [] } = registration;
    const sameAccounts = accounts_of_user.filter(
      (id) => id !== account && this.#accounts.has(id) && accounts.includes(id),
    );
    const sameIds = token_ids_of_user.filter(
      (id) => id !== tokenId && this.tokens.has(id) && own.includes(id),
    );
    return {
      ...success,
      ...(tokenId === undefined && { device_id: this.#devices }),
      ...(sameAccounts.length > 0 && { same_token_push_account_ids: sameAccounts }),
      ...(sameIds.length > 0 && { same_token_ids: sameIds }),
    };
  }

  #notify({ body }: RelayRequest): RelayReaction {
    const { push_requests: entries } = JSON.parse(body) as { push_requests: NotifyEntry[] };
    const dead: string[] = [];
    for (const { token_id: tokenId, device_id: deviceId, payload } of entries) {
      if (tokenId !== undefined && !this.tokens.has(tokenId)) dead.push(tokenId);
      else {
        const { push_key_id: keyId, encrypted_data: encryptedData } = payload;
        this.deliveries.push({ tokenId, deviceId, keyId, encryptedData });
      }
    }
    return {
      status: 200,
      body: {
        ...success,
        android_successfully_sent_count: 0,
        apple_successfully_sent_count: 0,
        delete_device_ids: [],
        delete_token_ids: dead,
        realm_push_status: null,
      },
    };
  }
}
