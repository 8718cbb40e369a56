import type { FaultVendor } from './fault-rule.js';

/** What one field of a fault rule may hold, and which vendors know it. */
interface RuleField {
  readonly vendors: readonly FaultVendor[];
  readonly expected: string;
  accepts(value: unknown): boolean;
}

const everyVendor: readonly FaultVendor[] = ['fcm', 'apns', 'oauth'];
const maximumSeconds = 2 ** 31;

/** Every field of a fault rule as it is written in `PUT /faults`. */
export const ruleFields = {
  vendor: choice(everyVendor, everyVendor),
  token: text(4096, ['fcm', 'apns']),
  topic: text(255, ['apns']),
  environment: choice(['production', 'sandbox'], ['apns']),
  rate: {
    vendors: everyVendor,
    expected: 'a number from 0 to 1',
    accepts: (value) => typeof value === 'number' && value >= 0 && value <= 1,
  },
  times: integer(1, Number.MAX_SAFE_INTEGER),
  status: integer(300, 599),
  reason: {
    vendors: everyVendor,
    expected: 'a name of 1 to 64 letters, digits and underscores',
    accepts: (value) => typeof value === 'string' && /^\w{1,64}$/.test(value),
  },
  message: text(4096, ['fcm', 'oauth']),
  field: text(255, ['fcm']),
  body: {
    vendors: everyVendor,
    expected: 'a text of at most 65536 characters',
    accepts: (value) => typeof value === 'string' && value.length <= 65_536,
  },
  retry_after: {
    vendors: everyVendor,
    expected: 'seconds as an integer from 0 on, or a text of 1 to 64 printable ASCII characters',
    accepts: (value) =>
      isInteger(value, 0, maximumSeconds) || (typeof value === 'string' && /^[\x20-\x7e]{1,64}$/.test(value)),
  },
  timestamp: integer(0, Number.MAX_SAFE_INTEGER, ['apns']),
  latency_ms: integer(0, 600_000),
  reset: {
    vendors: everyVendor,
    expected: '"before", "after" or true (which is "before")',
    accepts: (value) => value === 'before' || value === 'after' || value === true,
  },
  half_open: exactly(true, everyVendor),
  goaway_every: integer(1, Number.MAX_SAFE_INTEGER, ['apns']),
  goaway_json: {
    vendors: ['apns'],
    expected: 'true or false',
    accepts: (value) => typeof value === 'boolean',
  },
  goaway_code: integer(0, 13, ['apns']),
  max_concurrent_streams: integer(1, 2 ** 31 - 1, ['apns']),
  initial_concurrent_streams: integer(1, 2 ** 31 - 1, ['apns']),
  mint_interval_seconds: integer(1, 86_400, ['apns']),
  expires_in: integer(1, 3600, ['oauth']),
} as const satisfies Record<string, RuleField>;

type RuleFieldName = keyof typeof ruleFields;

/** A rule whose fields each hold what they may, not yet checked against each other. */
export type WireRule = Readonly<
  {
    vendor: FaultVendor;
    environment?: 'production' | 'sandbox';
    reset?: 'before' | 'after' | true;
    half_open?: true;
    goaway_json?: boolean;
    retry_after?: number | string;
  } & Partial<Record<'token' | 'topic' | 'reason' | 'message' | 'field' | 'body', string>> &
    Partial<
      Record<
        | 'rate'
        | 'times'
        | 'status'
        | 'timestamp'
        | 'latency_ms'
        | 'goaway_every'
        | 'goaway_code'
        | 'max_concurrent_streams'
        | 'initial_concurrent_streams'
        | 'mint_interval_seconds'
        | 'expires_in',
        number
      >
    >
>;

/** What is wrong with each field by itself, as sentences that begin with the field's path. */
export function findFieldProblems(path: string, rule: Readonly<Record<string, unknown>>): string[] {
  const { vendor } = rule;
  if (!ruleFields.vendor.accepts(vendor)) return [`${path}.vendor must be ${ruleFields.vendor.expected}`];
  return Object.entries(rule).flatMap(([name, value]) => {
    if (!Object.hasOwn(ruleFields, name)) {
      return [`${path}.${name} is not a field of a rule; those are ${Object.keys(ruleFields).join(', ')}`];
    }
    const field: RuleField = ruleFields[name as RuleFieldName];
    if (!field.vendors.includes(vendor as FaultVendor)) {
      return [
        `${path}.${name} does not go with vendor "${String(vendor)}", only with ${field.vendors.join(' and ')}`,
      ];
    }
    return field.accepts(value) ? [] : [`${path}.${name} must be ${field.expected}`];
  });
}

function choice(values: readonly string[], vendors: readonly FaultVendor[]): RuleField {
  return {
    vendors,
    expected: values.map((value) => `"${value}"`).join(' or '),
    accepts: (value) => typeof value === 'string' && values.includes(value),
  };
}

function exactly(wanted: boolean, vendors: readonly FaultVendor[]): RuleField {
  return { vendors, expected: String(wanted), accepts: (value) => value === wanted };
}

function text(maximumCharacters: number, vendors: readonly FaultVendor[]): RuleField {
  return {
    vendors,
    expected: `a text of 1 to ${maximumCharacters} characters`,
    accepts: (value) => typeof value === 'string' && value.length >= 1 && value.length <= maximumCharacters,
  };
}

function integer(minimum: number, maximum: number, vendors: readonly FaultVendor[] = everyVendor): RuleField {
  return {
    vendors,
    expected: `an integer from ${minimum} to ${maximum}`,
    accepts: (value) => isInteger(value, minimum, maximum),
  };
}

function isInteger(value: unknown, minimum: number, maximum: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
}
