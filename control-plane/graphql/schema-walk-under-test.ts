import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { OperationId } from '../../schemas/routes.ts';
import { graphqlSchema } from './graphql-schema.ts';

/** A field of the schema, and the way to it from the query. */
export interface WalkedField {
  /** `Customer.entitlements`. */
  name: string;
  /** The operation of the REST API whose scope it needs. */
  as: OperationId | undefined;
  field: Field;
  /** From a field of the query to this one. */
  way: Array<{ owner: string; field: Field }>;
}

type Field = GraphQLField<unknown, unknown>;

/** The text of an argument's value; undefined: it is left out. */
export type ArgumentOf = (name: string) => string | undefined;

/** Every field of every object type that a query leads to, with the shortest way to its type. */
export function walkSchema(): WalkedField[] {
  const query = graphqlSchema().getQueryType() as GraphQLObjectType;
  const ways = new Map<GraphQLNamedType, WalkedField['way']>([[query, []]]);
  const walked: WalkedField[] = [];
  // A Map can be added to while it is read: its new entries come at the end.
  for (const [type, way] of ways) {
    for (const field of Object.values((type as GraphQLObjectType).getFields())) {
      const own = [...way, { owner: type.name, field }];
      walked.push({ name: `${type.name}.${field.name}`, as: operationOf(field), field, way: own });
      const named = getNamedType(field.type);
      if (isObjectType(named) && !ways.has(named)) ways.set(named, own);
    }
  }
  return walked;
}

export function operationOf({ extensions }: Field): OperationId | undefined {
  const { pothosOptions } = extensions as { pothosOptions?: { authScopes?: { as: OperationId } } };
  return pothosOptions?.authScopes?.as;
}

/** Whether it shows a member of an object of the REST API, which its type is made from. */
export function isMember({ extensions }: Field): boolean {
  return extensions.isMember === true;
}

/** A query for the field, with all values of what it leads to. */
export function queryOf({ way }: WalkedField, argumentOf: ArgumentOf): string {
  const last = way.at(-1)?.field;
  const inner = last ? selectionOf(getNamedType(last.type)) : '';
  return way.reduceRight((below, { owner, field }) => {
    return `{ ${field.name}${argumentsOf(owner, field, argumentOf)} ${below} }`;
  }, inner);
}

function argumentsOf(owner: string, { name, args }: Field, argumentOf: ArgumentOf): string {
  const given = args.flatMap((one) => {
    const value = argumentOf(`${owner}.${name}.${one.name}`);
    if (value === undefined && isNonNullType(one.type)) {
      throw new Error(`there is no value for the argument ${owner}.${name}.${one.name}`);
    }
    return value === undefined ? [] : [`${one.name}: ${value}`];
  });
  return given.length === 0 ? '' : `(${given.join(', ')})`;
}

/** Its values, and those of the objects that are parts of it. */
function selectionOf(type: GraphQLNamedType, levels = 4): string {
  if (isLeafType(type) || !isObjectType(type)) return '';
  const fields = Object.values(type.getFields()).filter((one) => operationOf(one) === undefined);
  const shown = fields.flatMap((field) => {
    const named = getNamedType(field.type);
    if (field.args.some(({ type: of }) => isNonNullType(of))) return [];
    if (!isObjectType(named)) return [field.name];
    return levels === 0 || field.name === 'edges' ? [] : [`${field.name} ${selectionOf(named, levels - 1)}`];
  });
  return `{ ${shown.join(' ')} }`;
}
