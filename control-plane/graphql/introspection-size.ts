import {
  type GraphQLCompositeType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';

/**
 * How many entries a field of introspection can return, 1 if it is no list. A type counts as the one with the
 * most fields, and `types` as so many of those as have all fields of the schema together. The schema has no
 * interfaces and unions, whose lists are empty.
 */
export function introspectedEntries(
  schema: GraphQLSchema,
  type: GraphQLCompositeType,
  field: string,
): number {
  const sizes = known.get(schema) ?? sizesOf(schema);
  known.set(schema, sizes);
  return sizes[`${type.name}.${field}`] ?? 1;
}

const known = new WeakMap<GraphQLSchema, Record<string, number>>();

function sizesOf(schema: GraphQLSchema): Record<string, number> {
  const types = Object.values(schema.getTypeMap());
  const fields = types.filter(isObjectType).map((one) => Object.values(one.getFields()));
  const fieldsMax = Math.max(...fields.map((one) => one.length));
  const args = fields.flat().map((one) => one.args.length);
  const inputs = types.filter(isInputObjectType).map((one) => Object.keys(one.getFields()).length);
  const values = types.filter(isEnumType).map((one) => one.getValues().length);
  const directives = schema.getDirectives();
  return {
    '__Schema.types': Math.ceil(total(fields.map((one) => one.length)) / fieldsMax),
    '__Schema.directives': directives.length,
    '__Type.fields': fieldsMax,
    '__Type.enumValues': mean(values),
    '__Type.inputFields': mean(inputs),
    '__Field.args': mean(args),
    '__Directive.args': mean(directives.map((one) => one.args.length)),
  };
}

function mean(counts: number[]): number {
  return Math.ceil(total(counts) / counts.length);
}

function total(counts: number[]): number {
  return counts.reduce((sum, one) => sum + one, 0);
}
