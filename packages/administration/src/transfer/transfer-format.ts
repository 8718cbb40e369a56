import type { GeneratedColumn } from './table-catalog.js';

/** A column value in JSON. Binary values are base64. */
export type CellValue = string | number | null | { readonly base64: string };

/**
 * One line of an export. The header comes first, then rows, then generated columns. The end line shows that the file is
 * complete.
 */
export type TransferLine =
  | { readonly waxwingExport: 1; readonly migrations: Readonly<Record<string, readonly string[]>> }
  | { readonly table: string; readonly row: Readonly<Record<string, CellValue>> }
  | { readonly generated: GeneratedColumn }
  | { readonly end: TransferCounts };

/** Number of exported or imported rows. Jobs are counted separately. */
export interface TransferCounts {
  readonly rows: number;
  readonly jobs: number;
}

/** Encodes a column value. Throws a TypeError if SQLite and PostgreSQL do not share the value's type. */
export function encodeCell(value: unknown): CellValue {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  throw new TypeError(`A column contains a ${typeof value}, which is not one of the portable column types.`);
}

export function decodeCell(cell: CellValue): string | number | null | Uint8Array {
  return typeof cell === 'object' && cell !== null ? Buffer.from(cell.base64, 'base64') : cell;
}
