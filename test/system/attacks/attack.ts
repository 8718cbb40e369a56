/** An attack by an attacker process. The process gets it as JSON, so bytes are in base64. */
export type Attack = HeldConnections | RepeatedRequests | CutRequests;

/** Opens connections, sends bytes on each, and keeps them open as long as possible. */
export interface HeldConnections {
  readonly kind: 'hold';
  readonly port: number;
  readonly connections: number;
  /** First bytes of each connection, in base64, assigned round-robin. */
  readonly first: readonly string[];
  /** Bytes that each connection sends slowly, a few every second, starting over at the end. If empty, sends nothing. */
  readonly drip: string;
  /** Number of `drip` bytes per second. */
  readonly dripBytes: number;
  readonly readsAnswers: boolean;
  /**
   * Allowed answers, by status and code, in addition to the answers for connections that stay open too long or exceed a
   * limit.
   */
  readonly answers: readonly string[];
}

/** One of the requests that are sent repeatedly. */
interface RepeatedRequest {
  /** The attackers' action, as the end of a sentence. Several requests may share it. */
  readonly what: string;
  /** The whole text, in base64. */
  readonly text: string;
  /** All allowed answers, by status and code, such as `400 BAD_REQUEST` or `200`. */
  readonly answers: readonly string[];
}

/** Cycles through requests as fast as they are answered, and pipelines many before the first answer. */
export interface RepeatedRequests {
  readonly kind: 'flood';
  readonly port: number;
  /** Local loopback address. Default: chosen by the system. */
  readonly localAddress?: string;
  readonly connections: number;
  readonly requests: readonly RepeatedRequest[];
  /**
   * Number of requests, across all connections, after which the attack ends. Default: it continues until it is stopped,
   * which is possible once each kind of request has been answered.
   */
  readonly total?: number;
  /** Pipelining depth: number of requests sent on one connection before the first answer. */
  readonly depth: number;
  /** Whether each answer ends its connection, so that no other request can follow. */
  readonly endsConnections: boolean;
}

/** Sends the first bytes of a request and ends the connection, once for every possible length. */
export interface CutRequests {
  readonly kind: 'cut';
  readonly port: number;
  /** The request, in base64. */
  readonly request: string;
  /** `reset` sends RST, `close` FIN. */
  readonly how: 'reset' | 'close';
  /** Whether to send the whole request each time. */
  readonly isWhole: boolean;
  /** How often to send the whole request, or to go through all lengths, before the attack ends. */
  readonly rounds: number;
}

export type Counts = Readonly<Record<string, number>>;

/** A periodic report of an attacker process. */
export interface AttackReport {
  /** Whether all connections have been tried, or the flood has started. */
  readonly isInForce: boolean;
  readonly isOver: boolean;
  readonly open: number;
  /** Number of connections opened, requests answered, or requests cut off. */
  readonly done: number;
  /** For each action of the attackers, the number of answers by HTTP status and code. Empty if answers are not read. */
  readonly answers: Readonly<Record<string, Counts>>;
}
