import type { FieldMap } from '@pothos/core';
import type { TObject, TSchema } from 'typebox';
import { Defect } from '../../schemas/failures.ts';
import { builder, LARGE_VALUE_COST } from './schema-builder.ts';

/** What of a schema says which type of GraphQL its value has. */
interface Shape {
  type?: string | string[];
  format?: string;
  description?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: Shape[];
  items?: Shape;
  properties?: Record<string, Shape>;
  required?: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: the names of the fields come from the schema
type AnyBuilder = any;

interface ResourceOptions {
  description?: string;
  more?: Record<string, unknown>;
  large?: readonly string[];
}

/**
 * The type of GraphQL of an object that the REST API shows, with its fields and their descriptions. What may
 * be left out there may be null here. `more` has the types of members that have one elsewhere, or `false`
 * for members that another field shows; `large` names texts of some KiB.
 */
export function resourceType<T extends object>(
  name: string,
  schema: TSchema,
  { description, more = {}, large = [] }: ResourceOptions = {},
) {
  const ref = builder.objectRef<T>(name);
  return ref.implement({
    ...(description === undefined ? {} : { description }),
    fields: (t) => fieldsOf(t, name, { schema: schema as TObject, more, large }),
  });
}

function fieldsOf(
  t: AnyBuilder,
  owner: string,
  { schema, more, large }: { schema: TObject } & Required<Pick<ResourceOptions, 'more' | 'large'>>,
): FieldMap {
  const { properties, required = [] } = schema as Shape;
  const fields: FieldMap = {};
  for (const [name, member] of Object.entries(properties ?? {})) {
    const type = more[name] ?? typeOf(member, owner, name);
    if (type === false) continue;
    const isThere = required.includes(name) && !takesNull(member);
    fields[name] = t.field({
      type,
      nullable: !isThere,
      ...(member.description === undefined ? {} : { description: member.description }),
      ...(large.includes(name) ? { complexity: LARGE_VALUE_COST } : {}),
      extensions: { isMember: true },
      resolve: (parent: Record<string, unknown>) => parent[name],
    });
  }
  return fields;
}

function typeOf(schema: Shape, owner: string, name: string): unknown {
  const values = valuesOf(schema);
  if (values) return enumOf(`${owner}${capitalised(name)}`, values);
  if (schema.type === 'array') return [typeOf(schema.items ?? {}, owner, name)];
  if (schema.format === 'decimal')
    return [schema.type].flat().includes('boolean') ? 'FeatureValue' : 'Decimal';
  if (schema.format === 'date-time') return 'DateTime';
  if (schema.properties && Object.keys(schema.properties).length > 0)
    return resourceType(`${owner}${capitalised(name)}`, schema as TSchema);
  if (name === 'id') return 'ID';
  return SCALARS[String(schema.type)] ?? 'JSON';
}

const SCALARS: Record<string, string> = {
  string: 'String',
  integer: 'Int',
  number: 'Float',
  boolean: 'Boolean',
};

function takesNull(schema: Shape): boolean {
  return [schema.type].flat().includes('null');
}

/** The values of a closed set of names that GraphQL can write. */
function valuesOf({ enum: given, anyOf = [] }: Shape): string[] | undefined {
  const values = given ?? anyOf.map((one) => one.const);
  const isNamed = values.length > 0 && values.every((one) => typeof one === 'string' && NAME.test(one));
  return isNamed ? (values as string[]) : undefined;
}

const NAME = /^[A-Za-z]\w*$/;

const enums = new Map<string, { type: ReturnType<typeof builder.enumType>; values: string }>();

/** Sets that several resources have, by their values. */
const SHARED: Record<string, string> = {
  'boolean limit metered': 'FeatureType',
  'day week month year': 'Interval',
};

/** One type for one set of names. */
export function enumOf(name: string, values: readonly string[]) {
  const known = SHARED[values.join(' ')] ?? name;
  const made = enums.get(known);
  if (made && made.values !== values.join(' ')) throw new Defect(`two sets of values are called ${known}`);
  const type = made?.type ?? builder.enumType(known, { values: values as [string] });
  enums.set(known, { type, values: values.join(' ') });
  return type;
}

function capitalised(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
