/** What the clients know of the API, made of its description: types of its schemas, a table of operations. */

/** As much of OpenAPI as schemas/openapi.json uses. */
export interface Description {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
}

interface Operation {
  operationId: string;
  summary?: string;
  parameters?: Array<Parameter | Reference>;
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}

type Content = Record<string, { schema: Schema }>;

interface Reference {
  $ref: string;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

interface Schema {
  $ref?: string;
  description?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
}

const MADE = '// Made by `npm run openapi` of schemas/openapi.json; a test compares them.\n';
const API = '/api/v1/';
const ROW = 'readonly [method: string, path: string, idempotent: boolean]';
const JSON_TYPE = 'application/json';

/** The text of schemas.ts: a type for each schema, and `WebhookEvent` of all that are sent. */
export function schemasModule({ components, webhooks }: Description): string {
  const types = Object.entries(components.schemas).map(([name, schema]) => {
    return `${comment(schema, '')}export type ${name} = ${typeOf(schema, '')};\n`;
  });
  const sent = Object.values(webhooks).map(({ post }) => typeOf(jsonOf(post.requestBody?.content) ?? {}, ''));
  return `${MADE}\n${types.join('\n')}\nexport type WebhookEvent = ${union(sent, '')};\n`;
}

/** The text of operations.ts: `Operations`, the types of each by its id, and `OPERATIONS`, how it is sent. */
export function operationsModule(description: Description): string {
  const operations = jsonOperations(description);
  const types = operations.map((one) => `${one.comment}  '${one.id}': {\n${one.types}  };\n`);
  const table = operations.map(
    ({ id, row }) => `  '${id}': [${row.map((one) => JSON.stringify(one)).join(', ')}],\n`,
  );
  return (
    `${MADE}import type * as schemas from './schemas.ts';\n\n` +
    `export interface Operations {\n${types.join('')}}\n\n` +
    '/** Method, path below /api/v1, whether it takes an `Idempotency-Key`. */\n' +
    `export const OPERATIONS: Record<keyof Operations, ${ROW}> = {\n` +
    `${table.join('')}};\n`
  );
}

interface JsonOperation {
  id: string;
  comment: string;
  types: string;
  row: [method: string, path: string, takesKey: boolean];
}

/** Of the API, with a body of JSON or none; pages, assets and streams are not for clients like these. */
function jsonOperations({ paths, components }: Description): JsonOperation[] {
  const found = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return found.flatMap(({ path, method, operation }) => {
    const done = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1];
    const isJson = done !== undefined && (done.content === undefined || JSON_TYPE in done.content);
    if (!path.startsWith(API) || !isJson) return [];
    const parameters = (operation.parameters ?? []).map((one) => {
      return '$ref' in one ? components.parameters[lastOf(one.$ref)] : one;
    });
    const named = parameters.filter((one) => one !== undefined);
    const output = jsonOf(done.content);
    const takesKey = named.some(({ name }) => name === 'Idempotency-Key');
    return [
      {
        id: operation.operationId,
        comment: operation.summary === undefined ? '' : `  /** ${operation.summary}. */\n`,
        types:
          `    input: ${inputOf(operation, named)};\n` +
          `    output: ${output ? typeOf(output, '    ', 'schemas.') : 'undefined'};\n`,
        row: [method.toUpperCase(), path.slice(API.length - 1), takesKey],
      } satisfies JsonOperation,
    ];
  });
}

function inputOf({ requestBody }: Operation, parameters: readonly Parameter[]): string {
  const members = parameters
    .filter((one) => one.in === 'path' || one.in === 'query')
    .map(({ name, schema, required }) =>
      member(name, schema, { isRequired: required === true, indent: '      ' }),
    );
  const body = jsonOf(requestBody?.content);
  if (body)
    members.push(member('body', body, { isRequired: requestBody?.required === true, indent: '      ' }));
  return members.length === 0 ? 'Record<string, never>' : `{\n${members.join('')}    }`;
}

function member(
  name: string,
  schema: Schema,
  { isRequired, indent }: { isRequired: boolean; indent: string },
): string {
  const mark = isRequired ? '' : '?';
  return `${comment(schema, indent)}${indent}${keyOf(name)}${mark}: ${typeOf(schema, indent, 'schemas.')};\n`;
}

function typeOf(schema: Schema, indent: string, prefix = ''): string {
  if (schema.$ref !== undefined) return `${prefix}${lastOf(schema.$ref)}`;
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum)
    return union(
      schema.enum.map((one) => JSON.stringify(one)),
      indent,
    );
  const several = schema.oneOf ?? schema.anyOf;
  if (several)
    return union(
      several.map((one) => typeOf(one, indent, prefix)),
      indent,
    );
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return union(
    types.map((type) => plainType(schema, { type, indent, prefix })),
    indent,
  );
}

interface Place {
  type: string | undefined;
  indent: string;
  prefix: string;
}

function plainType(schema: Schema, { type, indent, prefix }: Place): string {
  if (type === 'array') return `Array<${typeOf(schema.items ?? {}, indent, prefix)}>`;
  if (type === 'object') return objectType(schema, indent, prefix);
  if (type === 'integer') return 'number';
  return type ?? 'unknown';
}

function objectType(
  { properties, patternProperties, required = [] }: Schema,
  indent: string,
  prefix: string,
): string {
  const [values] = Object.values(patternProperties ?? {});
  if (values) return `Record<string, ${typeOf(values, indent, prefix)}>`;
  const entries = Object.entries(properties ?? {});
  if (entries.length === 0) return 'Record<string, unknown>';
  const deeper = `${indent}  `;
  const members = entries.map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    return `${comment(schema, deeper)}${deeper}${keyOf(name)}${mark}: ${typeOf(schema, deeper, prefix)};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

function union(types: readonly string[], indent: string): string {
  const distinct = [...new Set(types)];
  if (distinct.length === 1 || distinct.join(' | ').length < 80) return distinct.join(' | ');
  return distinct.map((type) => `\n${indent}  | ${type}`).join('');
}

function comment({ description }: Schema, indent: string): string {
  return description === undefined ? '' : `${indent}/** ${description.replaceAll('*/', '* /')} */\n`;
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function jsonOf(content: Content | undefined): Schema | undefined {
  return content?.[JSON_TYPE]?.schema;
}

function lastOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
