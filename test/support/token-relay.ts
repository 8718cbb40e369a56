import { relayNotifyPath, relayRegisterManyPath, relayRegisterPath } from '@waxwing/protocol';
import { type RelayReaction, type RelayRequest, RelayStandIn } from './relay-stand-in.js';

/** A push that the relay handed to a vendor. */
export interface Delivery {
  readonly tokenId: string | undefined;
  readonly deviceId: number | undefined;
  readonly keyId: number | undefined;
  readonly encryptedData: string;
}

interface Registration {
  readonly token_id?: string;
  readonly accounts_of_user?: readonly number[];
}

interface NotifyEntry {
  readonly token_id?: string;
  readonly device_id?: number;
  readonly payload: { readonly push_key_id?: number; readonly encrypted_data: string };
}

const success = { result: 'success', msg: '' };

/**
 * A relay's HTTP interface that stores the tokens of the newer generation: a registration lives until it is removed or
 * dies. It also accepts devices of the older generation, and numbers them.
 */
export class TokenRelay {
  readonly stand: RelayStandIn;
  readonly tokens = new Set<string>();
  readonly deliveries: Delivery[] = [];
  /** Token ids in removal requests, in order. */
  readonly removed: string[] = [];
  /** Keys in requests to end them, as a token id and a key id, in order. */
  readonly ended: string[] = [];
  /** Accounts of the older generation by their token, for comparison with those that the server names. */
  readonly accountsOfToken = new Map<string, readonly number[]>();
  isDown = false;
  /** Refuses registrations with this code. */
  refusal: string | undefined;
  /** Wraps the relay's reaction to a request; `react` calls the relay. */
  around: (request: RelayRequest, react: () => RelayReaction) => RelayReaction | Promise<RelayReaction> = (
    _,
    react,
  ) => react();
  #devices = 0;

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
      const results = registrations.map(({ token_id: id, accounts_of_user: named }) =>
        this.#register(id, named),
      );
      return { status: 200, body: { ...success, results } };
    }
    const form = new URLSearchParams(request.body);
    if (request.path === relayRegisterPath) {
      const named = JSON.parse(form.get('accounts_of_user') ?? '[]') as number[];
      const body = this.#register(form.get('token_id') ?? undefined, named);
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

  #register(tokenId: string | undefined, named: readonly number[] = []): Record<string, unknown> {
    if (this.refusal !== undefined) return { result: 'error', msg: 'no', code: this.refusal };
    if (tokenId === undefined) {
      this.#devices += 1;
      return { ...success, device_id: this.#devices };
    }
    this.tokens.add(tokenId);
    const found = (this.accountsOfToken.get(tokenId) ?? []).filter((account) => named.includes(account));
    return found.length === 0 ? success : { ...success, same_token_push_account_ids: found };
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
