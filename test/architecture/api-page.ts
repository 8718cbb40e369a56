/** What is used here of an OpenAPI document that `openApiDocument` made. */
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
}

/** One section of the API reference, from an OpenAPI document. */
export function describeApi(name: string, { info, paths }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      describe(`${method.toUpperCase()} ${path}`, operation),
    ),
  );
  const source = `From [openapi/${name}.json](openapi/${name}.json), which also has the shapes of answers in full.`;
  return [`## ${info.title}`, source, ...operations].join('\n\n');
}

function describe(heading: string, operation: Operation): string {
  const actors = operation.security.flatMap((way) => Object.keys(way)).map((actor) => `\`${actor}\``);
  const parameters = [
    ...operation.parameters.map(({ name, in: where, required, schema, content, description }) => ({
      ...{ name, where, required, description },
      schema: schema ?? Object.values(content ?? {})[0]?.schema,
    })),
    ...Object.values(operation.requestBody?.content ?? {})
      .slice(0, 1)
      .flatMap(({ schema }) => fieldsOf(schema).map((field) => ({ ...field, where: 'body' }))),
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
    `Who may ask: ${actors.length === 0 ? 'anybody' : actors.join(' or ')}.`,
    ...(rows.length === 0 ? [] : [table]),
    describeAnswers(operation.responses),
  ].join('\n\n');
}

function describeAnswers(responses: Operation['responses']): string {
  return Object.entries(responses)
    .map(([status, answer]) => {
      const codes = answer.$ref?.split('/').at(-1) ?? answer.description ?? '';
      const fields = status === '200' ? fieldsOf(Object.values(answer.content ?? {})[0]?.schema) : [];
      const names = fields.map(({ name, schema }) => `\`${name}\` (${typeOf(schema)})`);
      return `- **${status}** ${codes}${names.length === 0 ? '' : `: ${names.join(', ')}`}`;
    })
    .join('\n');
}

interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
  readonly description?: string | undefined;
}

function fieldsOf(schema: Schema | undefined): Field[] {
  const own = Object.entries(schema?.properties ?? {}).map(([name, field]) => ({
    ...{ name, schema: field, description: field.description },
    required: schema?.required?.includes(name) ?? false,
  }));
  return [...own, ...(schema?.allOf ?? []).flatMap(fieldsOf)];
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
