import { z } from 'zod';
import type { FaultVendor } from './fault-rule.js';

const everyVendor = ['fcm', 'apns', 'oauth', 'webpush'] as const satisfies readonly FaultVendor[];
const maximumSeconds = 2 ** 31;
const retryAfterForms = 'seconds as an integer from 0 on, or a string of 1 to 64 printable ASCII characters';

/** Vendors that support each field of a rule. */
const vendorsOfField = z.registry<{ readonly vendors: readonly FaultVendor[] }>();

/** Schema of a fault rule in `PUT /faults`: the values of each field, and the vendors that support it. */
const wireRule = z.strictObject({
  vendor: field(everyVendor, z.enum(everyVendor, 'must be "fcm", "apns", "oauth" or "webpush"')),
  token: field(['fcm', 'apns', 'webpush'], text(4096).optional()),
  topic: field(['apns'], text(255).optional()),
  environment: field(
    ['apns'],
    z.enum(['production', 'sandbox'], 'must be "production" or "sandbox"').optional(),
  ),
  rate: field(everyVendor, number('a number from 0 to 1', (value) => value >= 0 && value <= 1).optional()),
  times: field(everyVendor, integer(1, Number.MAX_SAFE_INTEGER).optional()),
  status: field(everyVendor, integer(300, 599).optional()),
  reason: field(
    everyVendor,
    matching(/^\w{1,64}$/, 'a name of 1 to 64 letters, digits and underscores').optional(),
  ),
  message: field(['fcm', 'oauth'], text(4096).optional()),
  field: field(['fcm'], text(255).optional()),
  body: field(everyVendor, text(65_536, 0).optional()),
  retry_after: field(
    everyVendor,
    z
      .union([
        number(retryAfterForms, (value) => isInteger(value, 0, maximumSeconds)),
        matching(/^[\x20-\x7e]{1,64}$/, retryAfterForms),
      ])
      .optional(),
  ),
  timestamp: field(['apns'], integer(0, Number.MAX_SAFE_INTEGER).optional()),
  latency_ms: field(everyVendor, integer(0, 600_000).optional()),
  reset: field(
    everyVendor,
    z.literal(['before', 'after', true], 'must be "before", "after" or true (which is "before")').optional(),
  ),
  half_open: field(everyVendor, z.literal(true, 'must be true').optional()),
  goaway_every: field(['apns'], integer(1, Number.MAX_SAFE_INTEGER).optional()),
  goaway_json: field(['apns'], z.boolean('must be true or false').optional()),
  goaway_code: field(['apns'], integer(0, 13).optional()),
  max_concurrent_streams: field(['apns'], integer(1, 2 ** 31 - 1).optional()),
  initial_concurrent_streams: field(['apns'], integer(1, 2 ** 31 - 1).optional()),
  mint_interval_seconds: field(['apns'], integer(1, 86_400).optional()),
  expires_in: field(['oauth'], integer(1, 3600).optional()),
});

/** A rule whose fields are individually valid. The combination of fields is not checked yet. */
export type WireRule = Readonly<z.infer<typeof wireRule>>;

/** All field names of a rule, each with the vendors that support it. */
export const ruleFields: Readonly<Record<string, { readonly vendors: readonly FaultVendor[] }>> =
  Object.fromEntries(
    Object.entries(wireRule.shape).map(([name, shape]) => [
      name,
      { vendors: vendorsOfField.get(shape)?.vendors ?? [] },
    ]),
  );

/** Parses a rule. Returns the rule, or a sentence per invalid field. Each sentence starts with the field's path. */
export function readWireRule(
  path: string,
  source: unknown,
): { readonly rule: WireRule } | { readonly problems: readonly string[] } {
  const parsed = wireRule.safeParse(source);
  if (!parsed.success) return { problems: parsed.error.issues.flatMap((issue) => describe(path, issue)) };
  const { vendor } = parsed.data;
  const foreign = Object.keys(parsed.data).flatMap((name) => {
    const vendors = ruleFields[name]?.vendors ?? [];
    if (vendors.includes(vendor)) return [];
    return [`${path}.${name} is not supported for vendor "${vendor}", only for ${vendors.join(' and ')}`];
  });
  return foreign.length > 0 ? { problems: foreign } : { rule: parsed.data };
}

function describe(path: string, issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(ruleFields).join(', ');
    return issue.keys.map((name) => `${path}.${name} is not a field of a rule; the fields are ${known}`);
  }
  const [name] = issue.path;
  return name === undefined ? [`${path} must be an object`] : [`${path}.${String(name)} ${issue.message}`];
}

function field<Shape extends z.ZodType>(vendors: readonly FaultVendor[], shape: Shape): Shape {
  vendorsOfField.add(shape, { vendors });
  return shape;
}

function text(maximumCharacters: number, minimumCharacters = 1) {
  const range = minimumCharacters === 0 ? 'at most' : `${minimumCharacters} to`;
  const expected = `must be a string of ${range} ${maximumCharacters} characters`;
  return z.string(expected).min(minimumCharacters, expected).max(maximumCharacters, expected);
}

function matching(pattern: RegExp, expected: string) {
  return z.string(`must be ${expected}`).regex(pattern, `must be ${expected}`);
}

function integer(minimum: number, maximum: number) {
  const expected = `an integer from ${minimum} to ${maximum}`;
  return number(expected, (value) => isInteger(value, minimum, maximum));
}

function isInteger(value: number, minimum: number, maximum: number): boolean {
  return Number.isSafeInteger(value) && value >= minimum && value <= maximum;
}

function number(expected: string, accepts: (value: number) => boolean) {
  return z.number(`must be ${expected}`).refine(accepts, `must be ${expected}`);
}
