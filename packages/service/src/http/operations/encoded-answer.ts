import { Readable } from 'node:stream';
import { type JsonObject, type JsonValue, stringifyJson } from '@waxwing/protocol';

/** A JSON value encoded as UTF-8, in chunks. Many responses can share the value without copying it. */
export class EncodedJson<Value = unknown> {
  readonly chunks: readonly Uint8Array[];

  constructor(chunks: readonly Uint8Array[]) {
    this.chunks = chunks;
  }

  decode(): Value {
    return JSON.parse(Buffer.concat(this.chunks).toString()) as Value;
  }
}

/** Encodes a list that arrives page by page. `write` converts each entry. */
export async function encodePages<Read, Entry = Read>(
  pages: AsyncIterable<readonly Read[]>,
  write: (read: Read) => Entry = (read) => read as unknown as Entry,
): Promise<EncodedJson<Entry[]>> {
  const chunks: Uint8Array[] = [];
  for await (const page of pages) {
    if (page.length > 0) chunks.push(writeEntries(chunks.length === 0 ? '[' : ',', page.map(write)));
  }
  chunks.push(Buffer.from(chunks.length === 0 ? '[]' : ']'));
  return new EncodedJson(chunks);
}

/**
 * Encodes entries without brackets, preceded by the character `begin`. Replaces the brackets in the encoded bytes,
 * because slicing and joining long strings would copy them.
 */
export function writeEntries(begin: '[' | ',', entries: readonly unknown[]): Uint8Array {
  const bytes = Buffer.from(stringifyJson(entries as JsonValue));
  bytes.write(begin);
  return bytes.subarray(0, -1);
}

/** Fields whose values may already be encoded. */
export type Encodable<Fields> = { readonly [Name in keyof Fields]: Fields[Name] | EncodedJson<Fields[Name]> };

/**
 * A success with fields that are already encoded. The body is streamed, so clients that read slowly do not use up
 * memory.
 */
export class EncodedAnswer<Fields extends object = object> {
  readonly fields: Encodable<Fields>;

  constructor(fields: Encodable<Fields>) {
    this.fields = fields;
  }

  /** Returns the decoded fields. Slow; intended for tests, which compare the fields with the declaration. */
  decode(): Fields {
    const decoded = Object.entries(this.fields).map(([name, value]) => [
      name,
      value instanceof EncodedJson ? value.decode() : value,
    ]);
    return Object.fromEntries(decoded) as Fields;
  }
}

/** Returns the body of a success and its length in bytes. The `extra` fields are appended to the answer's own fields. */
export function encodedBody(
  answer: EncodedAnswer,
  extra: JsonObject,
): { readonly body: Readable; readonly bytes: number } {
  const chunks: Uint8Array[] = [];
  let separator = '{';
  let plain: Record<string, JsonValue> = {};
  const writePlain = (): void => {
    const text = stringifyJson(plain).slice(1, -1);
    plain = {};
    if (text === '') return;
    chunks.push(Buffer.from(separator + text));
    separator = ',';
  };
  const fields: Record<string, unknown> = { result: 'success', msg: '', ...answer.fields, ...extra };
  for (const [name, value] of Object.entries(fields)) {
    if (value instanceof EncodedJson) {
      writePlain();
      chunks.push(Buffer.from(`${separator}${JSON.stringify(name)}:`), ...value.chunks);
    } else plain[name] = value as JsonValue;
  }
  writePlain();
  chunks.push(Buffer.from('}\n'));
  const bytes = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return { body: Readable.from(chunks, { objectMode: false }), bytes };
}
