import { type ErrorCode, errorCodes, type JsonObject } from '@waxwing/protocol';
import { z } from 'zod';
import { type AnyOperation, pathParameters } from '../operations/operation.js';
import { codesOf } from '../operations/operation-codes.js';
import { hoistSchemas, inOrderOfNames, type Node, schemaReference } from './openapi-components.js';

export interface OpenApiInfo {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  /** HTTP statuses of error codes, where they differ from the error catalog. */
  readonly statuses?: Partial<Record<ErrorCode, number>>;
}

type Statuses = NonNullable<OpenApiInfo['statuses']>;

const jsonSchemaDialect = 'https://json-schema.org/draft/2020-12/schema';

/** Generates the OpenAPI 3.1 document from the declarations of operations. Deterministic. */
export function openApiDocument(
  { statuses = {}, ...info }: OpenApiInfo,
  operations: readonly AnyOperation[],
): JsonObject {
  const paths: Record<string, Node> = {};
  const security: Record<string, Node> = {};
  for (const declared of operations) {
    const path = {
      ...paths[declared.path],
      [declared.method.toLowerCase()]: describeOperation(declared, statuses),
    };
    paths[declared.path] = path;
    const { actor } = declared;
    if (actor.authenticate === undefined) continue;
    security[actor.name] = describeActor(actor);
  }
  const schemas: Record<string, Node> = { Error: errorSchema, Success: successSchema };
  const hoisted = hoistSchemas(inOrderOfNames(paths), schemas);
  const document = {
    openapi: '3.1.1',
    jsonSchemaDialect,
    info,
    paths: hoisted,
    components: {
      securitySchemes: security,
      responses: sharedRefusals(operations, statuses),
      schemas: inOrderOfNames(schemas),
    },
  };
  // A round trip through JSON drops undefined fields.
  return JSON.parse(JSON.stringify(document)) as JsonObject;
}

/** Describes the credentials that an operation requires. An empty requirement means that no credentials are required. */
function describeSecurity({ authenticate, isOptional = false, name }: AnyOperation['actor']): Node[] {
  if (authenticate === undefined) return [];
  return isOptional ? [{ [name]: [] }, {}] : [{ [name]: [] }];
}

function describeActor({ description, header }: AnyOperation['actor']): Node {
  if (header === undefined) return { type: 'http', scheme: 'basic', description };
  return { type: 'apiKey', in: 'header', name: header, description };
}

const errorSchema: Node = {
  type: 'object',
  description: 'A refusal. Some codes have additional fields.',
  required: ['result', 'msg', 'code'],
  properties: {
    result: { const: 'error' },
    msg: { type: 'string', description: 'For people: what is wrong, where, and what to do.' },
    code: { type: 'string', enum: Object.keys(errorCodes) },
  },
};

const successSchema: Node = {
  type: 'object',
  description: 'Fields that every successful answer has, in addition to those of its operation.',
  required: ['result', 'msg'],
  properties: {
    result: { const: 'success' },
    msg: { const: '' },
    ignored_parameters_unsupported: {
      type: 'array',
      items: { type: 'string' },
      description: 'Names of parameters in the request that the operation does not know.',
    },
  },
};

function describeOperation(declared: AnyOperation, statuses: Statuses): Node {
  const { actor, method, path, summary } = declared;
  const inBody = method !== 'GET';
  const names = Object.keys(declared.parameters.shape);
  const inPath = new Set(pathParameters(path));
  const outside =
    declared.body === 'json' ? [...inPath] : names.filter((name) => !inBody || inPath.has(name));
  return {
    operationId: operationId(declared),
    summary,
    security: describeSecurity(actor),
    parameters: outside.map((name) => describeParameter(declared, name, inPath.has(name) ? 'path' : 'query')),
    requestBody: inBody
      ? describeBody(
          declared,
          names.filter((name) => !inPath.has(name)),
        )
      : undefined,
    responses: {
      200: {
        description: 'Success',
        content: describeAnswer(declared),
      },
      ...(declared.isCacheable === true && {
        304: { description: 'The version that `If-None-Match` names is current.' },
      }),
      ...refusals(codesOf(declared), statuses),
    },
  };
}

function operationId({ answerType, method, path }: AnyOperation): string {
  const words = path.replace(/^\/(?:api\/v1\/)?/, '').split(/[^A-Za-z0-9]+/);
  // The suffix keeps ids unique: a file and its metadata may have the same path under different prefixes.
  const kind = answerType === undefined ? [] : ['content'];
  return [method.toLowerCase(), ...words.filter((word) => word !== ''), ...kind].join('_');
}

function describeParameter(declared: AnyOperation, name: string, location: 'path' | 'query'): Node {
  const shape = declared.parameters.shape[name] as z.ZodType;
  const schema = parameterSchema(shape);
  const isJson = metaOf(shape).openApiJson !== undefined;
  return {
    name,
    in: location,
    required: location === 'path' || !isOptional(shape),
    ...describeHistory(declared, name),
    ...(isJson ? { content: { 'application/json': { schema } } } : { schema }),
  };
}

function describeBody(declared: AnyOperation, names: readonly string[]): Node | undefined {
  if (declared.body === 'json') {
    const inPath = pathParameters(declared.path).map((name) => [name, true as const]);
    const shape =
      inPath.length === 0 ? declared.parameters : declared.parameters.omit(Object.fromEntries(inPath));
    const schema = toJsonSchema(shape, 'input');
    return { required: true, content: { 'application/json': { schema } } };
  }
  if (names.length === 0 && declared.body !== 'file') return undefined;
  const shape = declared.parameters.shape;
  const properties: Node = {};
  const encoding: Node = {};
  for (const name of names) {
    const parameter = shape[name] as z.ZodType;
    properties[name] = { ...parameterSchema(parameter), ...describeHistory(declared, name) };
    if (metaOf(parameter).openApiJson !== undefined) encoding[name] = { contentType: 'application/json' };
  }
  const required = names.filter((name) => !isOptional(shape[name] as z.ZodType));
  if (declared.body === 'file') {
    const file = { type: 'string', format: 'binary' };
    const schema = { type: 'object', required: [...required, 'file'], properties: { ...properties, file } };
    return { required: true, content: { 'multipart/form-data': { schema, encoding } } };
  }
  const schema = { schemaName: `${operationId(declared)}_form`, type: 'object', required, properties };
  const form = { schema, encoding };
  return {
    required: required.length > 0,
    content: { 'application/x-www-form-urlencoded': form, 'multipart/form-data': form },
  };
}

function describeAnswer({ answer, answerType }: AnyOperation): Node {
  if (answerType === undefined) return { 'application/json': { schema: answerSchema(answer) } };
  return { [answerType]: { schema: { type: 'string', format: 'binary' } } };
}

/** Describes a parameter's aliases, and the feature level that added the parameter. */
function describeHistory({ aliases = {}, since = {} }: AnyOperation, name: string): Node {
  const others = Object.keys(aliases).filter((alias) => aliases[alias] === name);
  const level = (since as Readonly<Record<string, number | undefined>>)[name];
  return {
    ...(others.length > 0 && { description: `Also accepted as ${others.join(' or ')}.` }),
    ...(level !== undefined && { 'x-since-feature-level': level }),
  };
}

function answerSchema(answer: z.ZodObject): Node {
  const success = schemaReference('Success');
  if (Object.keys(answer.shape).length === 0) return success;
  return { allOf: [success, toJsonSchema(answer, 'output')] };
}

/** Describes error responses by HTTP status. If a status has only one code, uses a reference to `components`. */
function refusals(codes: readonly ErrorCode[], statuses: Statuses): Node {
  return Object.fromEntries(
    byStatus(codes, statuses).map(([status, [only, ...more]]) => {
      if (more.length === 0) return [status, { $ref: `#/components/responses/${only}` }];
      return [status, describeRefusal([only, ...more])];
    }),
  );
}

/** Returns the `components` that {@link refusals} references. */
function sharedRefusals(operations: readonly AnyOperation[], statuses: Statuses): Record<string, Node> {
  const all = operations.flatMap((declared) => byStatus(codesOf(declared), statuses));
  const alone = all.flatMap(([, [only, ...more]]) => (more.length === 0 ? [only] : []));
  return inOrderOfNames(Object.fromEntries(alone.map((code) => [code, describeRefusal([code])])));
}

function describeRefusal(codes: readonly ErrorCode[]): Node {
  const schema = schemaReference('Error');
  return { description: [...codes].sort().join(', '), content: { 'application/json': { schema } } };
}

function byStatus(codes: readonly ErrorCode[], statuses: Statuses): [string, [ErrorCode, ...ErrorCode[]]][] {
  const found: Record<string, [ErrorCode, ...ErrorCode[]]> = {};
  for (const code of codes) {
    const httpStatus = statuses[code] ?? errorCodes[code].httpStatus;
    const others = found[httpStatus];
    if (others === undefined) found[httpStatus] = [code];
    else others.push(code);
  }
  return Object.entries(found);
}

interface ParameterMeta {
  /** JSON Schema of the value that the parameter's text represents. */
  readonly openApi?: Node;
  /** Schema of a JSON-encoded parameter. */
  readonly openApiJson?: z.ZodType;
}

/** Returns a parameter's metadata, including metadata inside `optional` and `default`. */
function metaOf(shape: z.ZodType): ParameterMeta {
  const meta = shape.meta();
  if (meta?.openApi !== undefined || meta?.openApiJson !== undefined) return meta as ParameterMeta;
  return shape instanceof z.ZodOptional || shape instanceof z.ZodDefault
    ? metaOf(shape.unwrap() as z.ZodType)
    : {};
}

function isOptional(shape: z.ZodType): boolean {
  return shape.safeParse(undefined).success;
}

function parameterSchema(shape: z.ZodType): Node {
  const { openApi, openApiJson } = metaOf(shape);
  const initial = shape instanceof z.ZodDefault ? { default: shape.parse(undefined) } : {};
  if (openApi !== undefined) return { ...openApi, ...initial };
  return { ...toJsonSchema(openApiJson ?? shape, 'input'), ...initial };
}

function toJsonSchema(shape: z.ZodType, io: 'input' | 'output'): Node {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { openApi, openApiJson } = zodSchema instanceof z.ZodType ? metaOf(zodSchema) : {};
      // Unknown fields are allowed, because later versions may add fields to request and response bodies.
      if (zodSchema instanceof z.ZodObject) delete jsonSchema.additionalProperties;
      delete (jsonSchema as Node).openApi;
      delete (jsonSchema as Node).openApiJson;
      const instead = openApiJson === undefined ? openApi : toJsonSchema(openApiJson, io);
      if (instead === undefined) return;
      for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Node)[key];
      Object.assign(jsonSchema, instead);
    },
  });
  return schema as Node;
}
