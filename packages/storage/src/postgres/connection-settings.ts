import pg from 'pg';

const connectTimeoutMilliseconds = 5_000;

/** Returns the settings for this process's connections. */
export function connectionSettings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'waxwing',
    connectionTimeoutMillis: connectTimeoutMilliseconds,
    keepAlive: true,
    types: { getTypeParser: portableTypeParser as typeof pg.types.getTypeParser },
  };
}

/**
 * Parses 64-bit integers and sums as numbers, as on SQLite. Throws for integers beyond 2^53 instead of rounding them.
 */
function portableTypeParser(oid: number, format: 'text' | 'binary'): (value: string) => unknown {
  if (format === 'text' && (oid === pg.types.builtins.INT8 || oid === pg.types.builtins.NUMERIC)) {
    return parseExactNumber;
  }
  return pg.types.getTypeParser(oid, format) as (value: string) => unknown;
}

function parseExactNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new RangeError(
      `The database contains the integer ${text}, which a number cannot represent: store it as decimal text.`,
    );
  }
  return value;
}
