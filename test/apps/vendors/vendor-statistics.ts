interface Requests {
  readonly requests: number;
  /** Number of requests by outcome, such as `200` or `410 Unregistered`. */
  readonly answers: Readonly<Record<string, number>>;
}

interface Connections {
  readonly connections: number;
  readonly open_connections: number;
}

/** Statistics of the stand-ins since their start. */
export interface VendorStatistics {
  readonly http: Connections;
  readonly fcm: Requests;
  readonly oauth: Requests & { readonly access_tokens_issued: number };
  readonly apns: {
    readonly production: Connections & Requests;
    readonly sandbox: Connections & Requests;
    readonly provider_tokens_accepted: number;
  };
  readonly webpush: Connections & Requests;
  readonly deliveries: { readonly kept: number; readonly forgotten: number };
  /** How often each fault rule was applied, in script order. */
  readonly faults_fired: readonly number[];
}

export async function readStatistics(vendorsUrl: string): Promise<VendorStatistics> {
  return (await fetch(`${vendorsUrl}/stats`)).json() as Promise<VendorStatistics>;
}
