import type { GeneratedColumn } from './table-catalog.js';

export type CellValue = string | number | null | { readonly base64: string };

/** The lines of an exported database: a header, what is in it, and an end that tells a whole file from a cut one. */
export type TransferLine =
  | { readonly waxwingExport: 1; readonly migrations: Readonly<Record<string, readonly string[]>> }
  | { readonly table: string; readonly row: Readonly<Record<string, CellValue>> }
  | { readonly generated: GeneratedColumn }
  | { readonly end: TransferCounts };

export interface TransferCounts {
  readonly rows: number;
  readonly jobs: number;
}

export function encodeCell(value: unknown): CellValue {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  throw new TypeError(`A column holds a ${typeof value}, which is not one of the portable column types.`);
}

export function decodeCell(cell: CellValue): string | number | null | Uint8Array {
  return typeof cell === 'object' && cell !== null ? Buffer.from(cell.base64, 'base64') : cell;
}
