import { parseJsonOrUndefined } from '@waxwing/protocol';
import { z } from 'zod';
import { readReason, type VendorRefusal } from '../vendor-sender.js';

const errorBody = z.object({
  reason: z.string().optional().catch(undefined),
  timestamp: z.int().optional().catch(undefined),
});

export interface ApnsReply {
  readonly httpStatus: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
}

/** Reads a refusal from APNs, whose timestamp is in Unix milliseconds. */
export function readApnsRefusal({ httpStatus, body, retryAfter }: ApnsReply): VendorRefusal {
  const parsed = errorBody.safeParse(parseJsonOrUndefined(body, JSON.parse));
  const { reason, timestamp } = parsed.success ? parsed.data : {};
  return { kind: 'refused', httpStatus, reason: readReason(reason), retryAfter, deadSince: timestamp };
}
