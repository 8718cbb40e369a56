/** A device row of a stock server. */
export interface StockDevice {
  readonly deviceId: number;
  readonly userId: number;
  pushKeyId: number | null;
  /** 33 bytes. The first byte is 0x31. */
  pushKey: Buffer | null;
  tokenKind: string | null;
  /** Base64; see docs/protocol.md, "Two generations". */
  tokenId: string | null;
  pendingTokenId: string | null;
  /** Unix seconds. */
  tokenUpdatedAt: number | null;
  errorCode: string | null;
}

export type StockEvent = {
  readonly type: 'device';
  readonly op: 'add' | 'remove' | 'update';
  readonly [field: string]: unknown;
};

export type Fields = Readonly<Record<string, string>>;

export interface StockAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** A registration that the server's worker is to forward to the relay. */
export interface TokenRegistration {
  readonly device: StockDevice;
  readonly tokenId: string;
  readonly bouncerPublicKey: string;
  readonly encryptedPushRegistration: string;
}

interface Groups {
  readonly key: { readonly id: number; readonly text: string } | undefined;
  readonly token: (Omit<TokenRegistration, 'device'> & { readonly kind: string }) | undefined;
}

const strictBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const success: StockAnswer = { status: 200, body: { result: 'success', msg: '' } };

/**
 * The device operations of a stock Zulip 12 server, with the same rows and events, and the same refusals in the same
 * order.
 */
export class StockDevices {
  readonly rows = new Map<number, StockDevice>();
  readonly #events = new Map<number, StockEvent[]>();
  readonly #clock: () => number;
  readonly #enqueue: (registration: TokenRegistration) => void;
  #lastId = 0;

  constructor(clock: () => number, enqueue: (registration: TokenRegistration) => void) {
    this.#clock = clock;
    this.#enqueue = enqueue;
  }

  of(userId: number): StockDevice[] {
    return [...this.rows.values()].filter((row) => row.userId === userId);
  }

  /** All events of the user. The id of an event is its index. */
  eventsOf(userId: number): readonly StockEvent[] {
    return this.#events.get(userId) ?? [];
  }

  /** The `devices` map in the response to `POST /register`. */
  state(userId: number): Record<string, object> {
    return Object.fromEntries(
      this.of(userId).map((row) => [
        String(row.deviceId),
        {
          push_key_id: row.pushKeyId,
          push_token_id: row.tokenId,
          pending_push_token_id: row.pendingTokenId,
          push_token_last_updated_timestamp: row.tokenUpdatedAt,
          push_registration_error_code: row.errorCode,
        },
      ]),
    );
  }

  add(userId: number): StockAnswer {
    this.#lastId += 1;
    const deviceId = this.#lastId;
    this.rows.set(deviceId, {
      deviceId,
      userId,
      pushKeyId: null,
      pushKey: null,
      tokenKind: null,
      tokenId: null,
      pendingTokenId: null,
      tokenUpdatedAt: null,
      errorCode: null,
    });
    this.#publish(userId, { type: 'device', op: 'add', device_id: deviceId });
    return { status: 200, body: { ...success.body, device_id: deviceId } };
  }

  remove(userId: number, deviceId: number): StockAnswer {
    if (this.rows.get(deviceId)?.userId !== userId) return refuse('Invalid `device_id`');
    this.rows.delete(deviceId);
    this.#publish(userId, { type: 'device', op: 'remove', device_id: deviceId });
    return success;
  }

  /** `POST /mobile_push/register`. */
  register(userId: number, fields: Fields): StockAnswer {
    const keyId = fields.push_key_id;
    if (keyId !== undefined && !(/^\d+$/.test(keyId) && Number(keyId) < 2 ** 32)) {
      return refuse('Invalid push_key_id: Value error, Not a valid unsigned 32-bit integer');
    }
    const row = this.rows.get(Number(fields.device_id));
    if (row === undefined || row.userId !== userId) return refuse('Invalid `device_id`');
    const groups = groupsOf(fields);
    if (groups.token !== undefined) return this.#registerToken(row, groups);
    if (groups.key !== undefined) return this.#rotateKey(row, groups.key);
    return refuse('Missing parameters: must provide either all push key fields, all token fields, or both.');
  }

  /** Stores changes of a row, and publishes an event with `fields`. */
  change(row: StockDevice, changes: Partial<StockDevice>, fields: object): void {
    Object.assign(row, changes);
    this.#publish(row.userId, { type: 'device', op: 'update', device_id: row.deviceId, ...fields });
  }

  #rotateKey(row: StockDevice, key: NonNullable<Groups['key']>): StockAnswer {
    if (row.pushKeyId === null) return refuse('No push registration exists to rotate key for.');
    const bytes = readPushKey(key.text);
    if (bytes === undefined) return refuse('Invalid `push_key`');
    if (row.pushKeyId === key.id && row.pushKey?.equals(bytes)) return success;
    this.change(row, { pushKeyId: key.id, pushKey: bytes }, { push_key_id: key.id });
    return success;
  }

  #registerToken(row: StockDevice, { key, token }: Groups): StockAnswer {
    if (token === undefined) throw new TypeError('a registration without a token');
    const { tokenId, bouncerPublicKey, encryptedPushRegistration, kind } = token;
    if (row.pendingTokenId !== null && row.errorCode === null) {
      return refuse('A registration for the device already in progress.');
    }
    if (!strictBase64.test(tokenId)) return refuse('`token_id` is not Base64 encoded');
    const isSameToken = row.errorCode === null && row.tokenId === tokenId;
    const bytes = key === undefined ? undefined : readPushKey(key.text);
    if (key === undefined) {
      if (row.pushKeyId === null) return refuse('No push registration exists to rotate token for.');
      if (isSameToken) return success;
    } else {
      if (bytes === undefined) return refuse('Invalid `push_key`');
      const isSameKey = row.pushKeyId === key.id && row.pushKey?.equals(bytes) === true;
      if (isSameToken && isSameKey && row.tokenKind === kind) return success;
    }
    const keyChange = key && bytes && { pushKeyId: key.id, pushKey: bytes, tokenKind: kind };
    const tokenUpdatedAt = Math.floor(this.#clock() / 1000);
    this.change(
      row,
      { ...keyChange, pendingTokenId: tokenId, tokenUpdatedAt, errorCode: null },
      {
        ...(key && { push_key_id: key.id }),
        pending_push_token_id: tokenId,
        push_token_last_updated_timestamp: tokenUpdatedAt,
        push_registration_error_code: null,
      },
    );
    this.#enqueue({ device: row, tokenId, bouncerPublicKey, encryptedPushRegistration });
    return success;
  }

  #publish(userId: number, event: StockEvent): void {
    this.#events.set(userId, [...this.eventsOf(userId), event]);
  }
}

export function refuse(msg: string, code = 'BAD_REQUEST', status = 400): StockAnswer {
  return { status, body: { result: 'error', msg, code } };
}

/** The groups of fields in a request. Treats an incomplete group as absent. */
function groupsOf(fields: Fields): Groups {
  const { push_key_id: id, push_key: text, token_kind: kind, token_id: tokenId } = fields;
  const { bouncer_public_key: bouncerPublicKey, encrypted_push_registration: sealed } = fields;
  const hasToken = ![kind, tokenId, bouncerPublicKey, sealed].includes(undefined);
  return {
    key: id === undefined || text === undefined ? undefined : { id: Number(id), text },
    token: hasToken
      ? {
          kind: String(kind),
          tokenId: String(tokenId),
          bouncerPublicKey: String(bouncerPublicKey),
          encryptedPushRegistration: String(sealed),
        }
      : undefined,
  };
}

function readPushKey(text: string): Buffer | undefined {
  const bytes = strictBase64.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  return bytes.length === 33 && bytes[0] === 0x31 ? bytes : undefined;
}
