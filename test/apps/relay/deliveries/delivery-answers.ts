interface Result {
  readonly status: string;
  readonly reason?: string;
  readonly fault?: string;
  readonly notification_id?: string;
}

/** The relay's response to a notify request. */
export interface NotifyAnswer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: Record<string, unknown> & {
    results: Result[];
    delete_device_ids: number[];
    code?: string;
    msg?: string;
  };
}

/** A delivery that arrived at a stand-in. */
export interface VendorDelivery {
  readonly vendor: string;
  readonly environment?: string;
  readonly token: string;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
  /** The stand-in's whole response, as text. Parsing would round 64-bit numbers. */
  readonly text: string;
}
