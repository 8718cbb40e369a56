import { nameOf, type Schema } from './document.js';
import { code, sentence } from './html.js';

type Schemas = Readonly<Record<string, Schema>>;

/** A parameter, or a field in a request or response body. */
export interface Field {
  readonly name: string;
  /** `path`, `query` or the kind of body; `undefined` for a response field. */
  readonly place?: string;
  readonly isRequired: boolean;
  readonly schema: Schema | undefined;
  readonly description?: string | undefined;
  readonly since?: number | undefined;
}

/** JavaScript's maximum safe integer. As a schema's maximum, it means "no limit". */
const anyInteger = 9_007_199_254_740_991;
/** Name of the schema with the fields that every successful response has. */
const commonAnswer = 'Success';

/** Returns the id of a shape's section on the page. */
export function shapeId(name: string): string {
  return `shape-${name}`;
}

/** Returns the fields of an object. Omits the fields that every successful response has. */
export function fieldsOf(schema: Schema | undefined, schemas: Schemas): Field[] {
  if (schema === undefined) return [];
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    return name === commonAnswer ? [] : fieldsOf(schemas[name], schemas);
  }
  const own = Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    schema: field,
    isRequired: schema.required?.includes(name) ?? false,
    description: field.description,
    since: field['x-since-feature-level'],
  }));
  return [...own, ...(schema.allOf ?? []).flatMap((part) => fieldsOf(part, schemas))];
}

/**
 * Returns an HTML list of fields, with nested lists for the fields of objects. Returns an empty string if there are no
 * fields.
 */
export function listFields(fields: readonly Field[]): string {
  return fields.length === 0 ? '' : `<ul class="fields">${fields.map(describeField).join('')}</ul>`;
}

function describeField({ name, place, isRequired, schema = {}, description, since }: Field): string {
  const facts = [
    typeOf(schema),
    ...(place === undefined ? [] : [place]),
    ...describeNeed(place, isRequired),
    ...limitsOf(schema),
    ...(schema.default === undefined ? [] : [`default ${code(JSON.stringify(schema.default))}`]),
    ...(since === undefined ? [] : [`since feature level ${since}`]),
  ].join(', ');
  const text = description ?? schema.description;
  const more = text === undefined ? '' : `<p>${sentence(text)}</p>`;
  return `<li>${code(name)} <span class="facts">${facts}</span>${more}${nestedFields(schema)}</li>`;
}

/**
 * Says whether a field is optional or required, but only if this differs from the usual case. Parameters are usually
 * optional, and response fields are usually present.
 */
function describeNeed(place: string | undefined, isRequired: boolean): string[] {
  if (place === undefined) return isRequired ? [] : ['may be absent'];
  return isRequired ? ['<strong>required</strong>'] : [];
}

/**
 * Lists the fields of objects nested in a schema. Referenced shapes are omitted, because they have their own section on
 * the page.
 */
function nestedFields(schema: Schema): string {
  if (schema.$ref !== undefined) return '';
  const { additionalProperties, anyOf = [], items, oneOf = [] } = schema;
  const own = listFields(fieldsOf(schema, {}));
  const choices = [...anyOf, ...oneOf].map(nestedFields).filter((fields) => fields !== '');
  const named =
    choices.length < 2
      ? choices
      : choices.map((fields, index) => `<p>${index === 0 ? 'Either' : 'Or'}:</p>${fields}`);
  const values = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  const inner = [...(items === undefined ? [] : [items]), ...values].map(nestedFields);
  return [own, ...named, ...inner].join('');
}

/** Returns the name of a type in HTML, with links to the sections of shapes. */
export function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) return 'anything';
  if (schema.$ref !== undefined)
    return `<a href="#${shapeId(nameOf(schema.$ref))}">${nameOf(schema.$ref)}</a>`;
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((value) => code(JSON.stringify(value))).join(' or ');
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ');
  if (schema.prefixItems !== undefined) return `list of ${schema.prefixItems.map(typeOf).join(', then ')}`;
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (typeof schema.additionalProperties === 'object' && schema.properties === undefined) {
    return `object whose values are ${typeOf(schema.additionalProperties)}`;
  }
  const type = [schema.type ?? 'anything'].flat().join(' or ');
  return schema.format === undefined ? type : `${type} (${schema.format})`;
}

function limitsOf(schema: Schema): string[] {
  const { minimum = -anyInteger, maximum = anyInteger, exclusiveMinimum } = schema;
  return [
    ...(minimum > -anyInteger ? [`at least ${minimum}`] : []),
    ...(exclusiveMinimum === undefined ? [] : [`more than ${exclusiveMinimum}`]),
    ...(maximum < anyInteger ? [`at most ${maximum}`] : []),
    ...(schema.minLength === undefined ? [] : [`at least ${schema.minLength} characters`]),
    ...(schema.maxLength === undefined ? [] : [`at most ${schema.maxLength} characters`]),
    ...(schema.minItems === undefined ? [] : [`at least ${schema.minItems} items`]),
    ...(schema.maxItems === undefined ? [] : [`at most ${schema.maxItems} items`]),
  ];
}
