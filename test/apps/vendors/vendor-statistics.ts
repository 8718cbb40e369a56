interface Requests {
  readonly requests: number;
  /** Number of answers by outcome. */
  readonly answers: Readonly<Record<string, number>>;
}

interface Connections {
  readonly connections: number;
  readonly open_connections: number;
}

/** Statistics of the vendors' stand-ins since they started. */
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
  /** How often each scripted fault occurred, in the order of the script. */
  readonly faults_fired: readonly number[];
}

export async function readStatistics(vendorsUrl: string): Promise<VendorStatistics> {
  return (await fetch(`${vendorsUrl}/stats`)).json() as Promise<VendorStatistics>;
}
