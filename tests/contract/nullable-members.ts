/**
 * The description as the fuzzer needs it. An optional member of a body may be null, which means absent. A
 * body that is JSON as text has its media type as format (formats.py).
 */

interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  contentMediaType?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

export interface Described {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>;
  components: { schemas: Record<string, Schema> };
}

/** Of request bodies: those of responses stay as they are described. */
export function withNullableMembers(description: Described): Described {
  const copy = structuredClone(description);
  const { schemas } = copy.components;
  for (const operations of Object.values(copy.paths)) {
    for (const { requestBody } of Object.values(operations)) {
      for (const content of Object.values(requestBody?.content ?? {})) {
        content.schema = nullable(content.schema, schemas);
      }
    }
  }
  return copy;
}

function nullable(schema: Schema, schemas: Record<string, Schema>): Schema {
  const named = schema.$ref?.split('/').at(-1);
  if (named !== undefined) return nullable(schemas[named] ?? {}, schemas);
  const { properties, patternProperties, required = [], items, anyOf, contentMediaType } = schema;
  const inner = (one: Schema) => nullable(one, schemas);
  const mapped = (all: Record<string, Schema>, isOptional: (name: string) => boolean) =>
    Object.fromEntries(
      Object.entries(all).map(([name, one]) => [name, isOptional(name) ? orNull(inner(one)) : inner(one)]),
    );
  return {
    ...schema,
    ...(contentMediaType === undefined ? {} : { format: contentMediaType }),
    ...(anyOf ? { anyOf: anyOf.map(inner) } : {}),
    ...(items ? { items: inner(items) } : {}),
    ...(properties ? { properties: mapped(properties, (name) => !required.includes(name)) } : {}),
    ...(patternProperties ? { patternProperties: mapped(patternProperties, () => true) } : {}),
  };
}

function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] };
}
