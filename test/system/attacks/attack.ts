/** An attack by an attacker process. The process receives it as JSON, so bytes are in base64. */
export type Attack = HeldConnections | RepeatedRequests | CutRequests;

/** Opens connections, sends bytes on each, and keeps them open as long as possible. */
export interface HeldConnections {
  readonly kind: 'hold';
  readonly port: number;
  readonly connections: number;
  /** First bytes of the connections, in base64. Assigned to connections round-robin. */
  readonly first: readonly string[];
  /** Bytes in base64 that each connection then sends slowly, in a loop. If empty, the connection sends nothing more. */
  readonly drip: string;
  /** Number of `drip` bytes that each connection sends per second. */
  readonly dripBytes: number;
  readonly readsAnswers: boolean;
  /**
   * Allowed responses, by status and code. The responses to connections that stay open too long or exceed a limit are
   * always allowed.
   */
  readonly answers: readonly string[];
}

/** One of the requests that an attack repeats. */
interface RepeatedRequest {
  /** The attackers' action, as a clause that follows "while". Several requests may share it. */
  readonly what: string;
  /** The whole HTTP request, in base64. */
  readonly text: string;
  /** All allowed responses, by status and code, such as `400 BAD_REQUEST` or `200`. */
  readonly answers: readonly string[];
}

/** Cycles through requests as fast as the target responds, with many requests pipelined on each connection. */
export interface RepeatedRequests {
  readonly kind: 'flood';
  readonly port: number;
  /** Local loopback address. By default, the system chooses it. */
  readonly localAddress?: string;
  readonly connections: number;
  readonly requests: readonly RepeatedRequest[];
  /**
   * Number of requests on all connections together, after which the attack ends. By default, the attack continues until
   * it is stopped, which requires that each kind of request has been answered.
   */
  readonly total?: number;
  /** Pipelining depth: number of requests sent on a connection before its first response. */
  readonly depth: number;
  /** Whether the target closes the connection after each response. */
  readonly endsConnections: boolean;
}

/** Sends the first bytes of a request and then ends the connection, once for every possible length. */
export interface CutRequests {
  readonly kind: 'cut';
  readonly port: number;
  /** The request, in base64. */
  readonly request: string;
  /** How to end the connection: `reset` sends RST, `close` sends FIN. */
  readonly how: 'reset' | 'close';
  /** Whether to send the whole request every time. */
  readonly isWhole: boolean;
  /** Number of times that the whole request is sent, or that all lengths are tried. */
  readonly rounds: number;
}

export type Counts = Readonly<Record<string, number>>;

/** A periodic report of an attacker process. */
export interface AttackReport {
  /** Whether the attack is at full strength: all connections have been tried, or the flood has started. */
  readonly isInForce: boolean;
  readonly isOver: boolean;
  readonly open: number;
  /** Number of connections opened, responses received, or requests cut off. */
  readonly done: number;
  /** Number of responses by HTTP status and code, for each action of the attackers. Empty if responses are not read. */
  readonly answers: Readonly<Record<string, Counts>>;
}
