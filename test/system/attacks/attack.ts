/** What a process of attackers does; sent to it as JSON, so that bytes are base64. */
export type Attack = HeldConnections | RepeatedRequests | CutRequests;

/** Opens connections, sends each the same bytes, and keeps them open for as long as it is let. */
export interface HeldConnections {
  readonly kind: 'hold';
  readonly port: number;
  readonly connections: number;
  /** What they send first, in base64: each connection the next of them, in turn. */
  readonly first: readonly string[];
  /** What each sends part of every second, from its start on again and again; nothing where it is empty. */
  readonly drip: string;
  /** How much of that at a time. */
  readonly dripBytes: number;
  readonly readsAnswers: boolean;
  /**
   * Status and code that it may be answered with, beside what every connection is that is held for too long, or is one too
   * many.
   */
  readonly answers: readonly string[];
}

/** One of the requests that are sent again and again. */
interface RepeatedRequest {
  /** What attackers do by it, said as the end of a sentence; several may do the same. */
  readonly what: string;
  /** Its whole text, in base64. */
  readonly text: string;
  /** Status and code that it is answered with, such as `400 BAD_REQUEST` or `200`; there must be no other. */
  readonly answers: readonly string[];
}

/** Sends requests in turn again and again, many before the first answer, as fast as they are answered. */
export interface RepeatedRequests {
  readonly kind: 'flood';
  readonly port: number;
  /** The loopback address that they come from; whichever the system chooses where there is none. */
  readonly localAddress?: string;
  readonly connections: number;
  readonly requests: readonly RepeatedRequest[];
  /**
   * Number of requests across all connections after which the attack ends. Without it, the attack goes on until it is ended,
   * which is possible once each kind of request was answered.
   */
  readonly total?: number;
  /** Sent on one connection before the first answer. */
  readonly depth: number;
  /** For what cannot be followed by another request: each answer ends its connection. */
  readonly endsConnections: boolean;
}

/** Sends a part of a request and ends the connection, once for every length that a part can have. */
export interface CutRequests {
  readonly kind: 'cut';
  readonly port: number;
  /** Of each part is sent in turn, in base64. */
  readonly request: string;
  /** `reset` sends RST, `close` FIN. */
  readonly how: 'reset' | 'close';
  /** Whether all of it is sent each time, and not a part. */
  readonly isWhole: boolean;
  /** How often the whole is sent, or all lengths are gone through; the attack then ends. */
  readonly rounds: number;
}

export type Counts = Readonly<Record<string, number>>;

/** What a process of attackers tells, every now and then. */
export interface AttackReport {
  /** Whether all that was to be held has been tried, or the flood has begun. */
  readonly isInForce: boolean;
  readonly isOver: boolean;
  readonly open: number;
  /** Connections that were made, requests that were answered, or requests that were cut. */
  readonly done: number;
  /** Of each of what attackers do its answers by HTTP status and code, as far as answers are read. */
  readonly answers: Readonly<Record<string, Counts>>;
}
