/** The parts of an OpenAPI document from `openApiDocument` that this file uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}
type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
interface Answer {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
}
interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema?: Schema;
    readonly content?: Content;
    readonly description?: string;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
}
export interface OpenApi {
  readonly info: { readonly title: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
}
type Schemas = Readonly<Record<string, Schema>>;

/** A response with more fields than this gets one line per field. */
const maximumFieldsInLine = 12;

/**
 * Writes one section of the API reference from an OpenAPI document.
 * @throws Error for an operation whose body has no known fields
 */
export function describeApi(name: string, { info, paths, components }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      describe(`${method.toUpperCase()} ${path}`, operation, components.schemas),
    ),
  );
  const source = `From [openapi/${name}.json](openapi/${name}.json), which also has the full shapes of responses.`;
  return [`## ${info.title}`, source, ...operations].join('\n\n');
}

function describe(heading: string, operation: Operation, schemas: Schemas): string {
  const actors = operation.security.flatMap((way) => Object.keys(way)).map((actor) => `\`${actor}\``);
  const [[type, body] = []] = Object.entries(operation.requestBody?.content ?? {});
  const where = type === 'application/json' ? 'JSON body' : 'body';
  const bodyFields = fieldsOf(body?.schema, schemas);
  // A body that is declared as an empty object legitimately has no fields.
  const isEmpty = Object.keys(body?.schema?.properties ?? { unknown: {} }).length === 0;
  if (body !== undefined && bodyFields.length === 0 && !isEmpty) {
    throw new Error(`${heading} has a body without known fields: check its schema.`);
  }
  const parameters = [
    ...operation.parameters.map(({ name, in: where, required, schema, content, description }) => ({
      name,
      where,
      required,
      description,
      schema: schema ?? Object.values(content ?? {})[0]?.schema,
    })),
    ...bodyFields.map((field) => ({ ...field, where })),
  ];
  const rows = parameters.map(
    ({ name, where, required, schema, description }) =>
      `| \`${name}\` | ${where} | ${typeOf(schema)} | ${required ? 'yes' : ''} | ${cell(description ?? schema?.description)} |`,
  );
  const table = ['| parameter | in | type | required | |', '| --- | --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
  return [
    `### ${heading}`,
    operation.summary,
    ...(operation.description === undefined ? [] : [operation.description]),
    `Allowed for: ${actors.length === 0 ? 'anyone' : actors.join(' or ')}.`,
    ...(rows.length === 0 ? [] : [table]),
    describeAnswers(operation.responses, schemas),
  ].join('\n\n');
}

function describeAnswers(responses: Operation['responses'], schemas: Schemas): string {
  return Object.entries(responses)
    .map(([status, answer]) => {
      const codes = answer.$ref?.split('/').at(-1) ?? answer.description ?? '';
      const content = Object.values(answer.content ?? {})[0];
      const fields = status === '200' ? fieldsOf(content?.schema, schemas) : [];
      const names = fields.map(({ name, schema }) => `\`${name}\` (${typeOf(schema)})`);
      const told =
        names.length > maximumFieldsInLine ? `\n  - ${names.join('\n  - ')}` : ` ${names.join(', ')}`;
      return `- **${status}** ${codes}${names.length === 0 ? '' : `:${told}`}`;
    })
    .join('\n');
}

interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
  readonly description?: string | undefined;
}

/** Returns the fields of an object. For a response, omits the fields that every response has. */
function fieldsOf(written: Schema | undefined, schemas: Schemas): Field[] {
  const schema = written?.$ref === undefined ? written : schemas[written.$ref.split('/').at(-1) ?? ''];
  const own = Object.entries(schema?.properties ?? {}).map(([name, field]) => ({
    name,
    schema: field,
    description: field.description,
    required: schema?.required?.includes(name) ?? false,
  }));
  const parts = schema?.allOf?.filter(({ $ref }) => $ref !== '#/components/schemas/Success') ?? [];
  return [...own, ...parts.flatMap((part) => fieldsOf(part, schemas))];
}

function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) return 'any';
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  const choices = schema.anyOf ?? schema.allOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ');
  return [schema.type ?? 'any'].flat().join(' or ');
}

function cell(text = ''): string {
  return text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
}
