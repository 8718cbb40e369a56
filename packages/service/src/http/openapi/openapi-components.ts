import { isDeepStrictEqual } from 'node:util';

/** A part of an OpenAPI document. */
export type Node = Record<string, unknown>;

const folder = '#/components/schemas/';
/** What an OpenAPI document may say beside a reference. */
const besideReference = ['default', 'description', 'x-since-feature-level'] as const;

/**
 * The part with a reference in the place of each schema that has a `schemaName`, which goes into `schemas` by that name,
 * once. A shape gets its name by `meta({ schemaName: 'Message' })`.
 * @throws Error when two different schemas have one name.
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

/** The same parts, in the order of their names. */
export function inOrderOfNames<Part>(parts: Readonly<Record<string, Part>>): Record<string, Part> {
  return Object.fromEntries(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1)));
}
