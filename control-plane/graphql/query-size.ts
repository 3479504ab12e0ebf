import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isCompositeType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { faultyText } from '../../schemas/primitives/exact-json.ts';
import { introspectedEntries } from './introspection-size.ts';

export interface QuerySize {
  /** Fields within fields, those of introspection as one. */
  depth: number;
  /** Fields and aliases, those of a fragment wherever it is used. */
  fields: number;
  /** What reading the objects costs; see `complexity` at each field. */
  cost: number;
  /** Values that introspection can return. */
  introspected: number;
  /** What is read once for a list, however many entries it has. */
  costOfList: number;
}

/** An operation of a valid document, with its variables coerced. */
export interface MeasuredOperation {
  schema: GraphQLSchema;
  operation: OperationDefinitionNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  variables: Record<string, unknown>;
}

/**
 * How much an operation asks for, whatever its directives leave out. Throws what is wrong with an argument:
 * GraphQLError if it has not the type, Rejected if its text cannot be stored.
 */
export function querySize(measured: MeasuredOperation): QuerySize {
  const { schema, operation } = measured;
  const root = schema.getRootType(operation.operation);
  if (!root) throw new GraphQLError(`Schema is not configured to execute ${operation.operation} operation.`);
  return sizeOfSelections({ ...measured, known: new Map() }, operation.selectionSet, root);
}

type Field = GraphQLField<unknown, unknown>;

interface Measuring extends MeasuredOperation {
  /** A fragment is measured once for each type: fragments within fragments would take exponential time. */
  known: Map<SelectionSetNode, Map<GraphQLCompositeType, QuerySize>>;
}

function sizeOfSelections(given: Measuring, set: SelectionSetNode, type: GraphQLCompositeType): QuerySize {
  const known = given.known.get(set) ?? new Map<GraphQLCompositeType, QuerySize>();
  given.known.set(set, known);
  const size = known.get(type) ?? sum(set.selections.map((one) => sizeOfSelection(given, one, type)));
  known.set(type, size);
  return size;
}

const NOTHING: QuerySize = { depth: 0, fields: 0, cost: 0, introspected: 0, costOfList: 0 };

function sum(sizes: QuerySize[]): QuerySize {
  const total = { ...NOTHING };
  for (const { depth, fields, cost, introspected, costOfList } of sizes) {
    total.depth = Math.max(total.depth, depth);
    total.fields += fields;
    total.cost += cost;
    total.introspected += introspected;
    total.costOfList += costOfList;
  }
  return total;
}

function sizeOfSelection(given: Measuring, one: SelectionNode, type: GraphQLCompositeType): QuerySize {
  if (one.kind === Kind.FIELD) return sizeOfField(given, one, type);
  const fragment = one.kind === Kind.INLINE_FRAGMENT ? one : given.fragments.get(one.name.value);
  if (!fragment) throw new Defect('a fragment of a valid document is not in it');
  const name = fragment.typeCondition?.name.value;
  const ofType = name === undefined ? type : given.schema.getType(name);
  if (!isCompositeType(ofType)) throw new Defect(`a fragment is on ${name}, which has no fields`);
  return sizeOfSelections(given, fragment.selectionSet, ofType);
}

function sizeOfField(given: Measuring, node: FieldNode, type: GraphQLCompositeType): QuerySize {
  const name = node.name.value;
  if (name === '__typename') return { ...NOTHING, depth: 1, fields: 1 };
  const field = fieldOf(type, name);
  const args = checkedArguments(given, field, node);
  const ofType = getNamedType(field.type);
  const set = node.selectionSet;
  const inner = set && isCompositeType(ofType) ? sizeOfSelections(given, set, ofType) : NOTHING;
  const fields = 1 + inner.fields;
  if (type.name.startsWith('__') || name.startsWith('__')) {
    const entries = introspectedEntries(given.schema, type, name);
    return { ...NOTHING, depth: 1, fields, introspected: 1 + entries * inner.introspected };
  }
  const { own, entries } = costOf(field, args);
  const cost = own + entries * inner.cost + inner.costOfList;
  const size = { ...NOTHING, depth: 1 + inner.depth, fields, introspected: inner.introspected };
  return field.extensions.isOnceForList ? { ...size, costOfList: cost } : { ...size, cost };
}

function fieldOf(type: GraphQLCompositeType, name: string): Field {
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  const field = isObjectType(type) ? type.getFields()[name] : undefined;
  if (!field) throw new Defect(`a valid document asks for ${type.name}.${name}, which is no field`);
  return field;
}

/** Escapes write texts that no body can have: stores reject them as faults of ours. */
function checkedArguments({ variables }: Measuring, field: Field, node: FieldNode): Record<string, unknown> {
  const args = getArgumentValues(field, node, variables);
  for (const [param, value] of Object.entries(args)) {
    if (faultyText(value) === undefined) continue;
    const message = `\`${param}\` contains U+0000 or an unpaired surrogate, which is no text.`;
    throw new Rejected('invalid_request', message, { param });
  }
  return args;
}

type Complexity = number | { field?: number; multiplier?: number };

/** Of a field: what it costs itself, and how often what is selected in it can be there. */
function costOf(field: Field, args: object): { own: number; entries: number } {
  const given = field.extensions.complexity as
    | Complexity
    | ((args: object, context: object, field: Field) => Complexity)
    | undefined;
  const complexity = typeof given === 'function' ? given(args, {}, field) : given;
  if (complexity === undefined) throw new Defect(`${field.name} has no cost`);
  if (typeof complexity === 'number') return { own: complexity, entries: entriesOf(field) };
  return { own: complexity.field ?? 0, entries: complexity.multiplier ?? entriesOf(field) };
}

/** Of a list without arguments, such as the tiers of a price. */
const ENTRIES = 10;

function entriesOf({ type }: Field): number {
  return String(type).startsWith('[') ? ENTRIES : 1;
}
