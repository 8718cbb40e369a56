import { isDeepStrictEqual } from 'node:util';

/** A node of an OpenAPI document. */
export type Node = Record<string, unknown>;

const folder = '#/components/schemas/';
/** Keys that OpenAPI allows next to `$ref`. */
const besideReference = ['default', 'description', 'x-since-feature-level'] as const;

/**
 * Replaces each schema that has a `schemaName` with a reference, and collects these schemas by name in `schemas`. To
 * name a zod schema, use `meta({ schemaName: 'Message' })`.
 * @throws Error if two different schemas have the same name
 */
export function hoistSchemas(part: unknown, schemas: Record<string, Node>): unknown {
  if (Array.isArray(part)) return part.map((item) => hoistSchemas(item, schemas));
  if (typeof part !== 'object' || part === null) return part;
  const { schemaName, ...own } = Object.fromEntries(
    Object.entries(part)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, hoistSchemas(value, schemas)]),
  );
  if (typeof schemaName !== 'string') return own;
  const beside = Object.fromEntries(besideReference.flatMap((key) => (key in own ? [[key, own[key]]] : [])));
  for (const key of besideReference) delete own[key];
  const known = schemas[schemaName];
  if (known !== undefined && !isDeepStrictEqual(known, own)) {
    throw new Error(`Two different schemas are named ${schemaName}: give one of them another schemaName.`);
  }
  schemas[schemaName] = own;
  return { ...schemaReference(schemaName), ...beside };
}

export function schemaReference(name: string): Node {
  return { $ref: `${folder}${name}` };
}

/** Sorts the properties by name. */
export function inOrderOfNames<Part>(parts: Readonly<Record<string, Part>>): Record<string, Part> {
  return Object.fromEntries(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1)));
}
