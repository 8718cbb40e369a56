interface Requests {
  readonly requests: number;
  /** How often each thing was answered or done. */
  readonly answers: Readonly<Record<string, number>>;
}

interface Connections {
  readonly connections: number;
  readonly open_connections: number;
}

/** What the vendors' stand-ins have counted since they started. */
export interface VendorStatistics {
  readonly http: Connections;
  readonly fcm: Requests;
  readonly oauth: Requests & { readonly access_tokens_issued: number };
  readonly apns: {
    readonly production: Connections & Requests;
    readonly sandbox: Connections & Requests;
    readonly provider_tokens_accepted: number;
  };
  readonly deliveries: { readonly kept: number; readonly forgotten: number };
  /** How often each of the faults happened that were scripted, in their order. */
  readonly faults_fired: readonly number[];
}

export async function readStatistics(vendorsUrl: string): Promise<VendorStatistics> {
  return (await fetch(`${vendorsUrl}/stats`)).json() as Promise<VendorStatistics>;
}
