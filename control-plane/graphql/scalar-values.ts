import { GraphQLError, Kind, type ValueNode } from 'graphql';
import { numberText } from '../../schemas/primitives/exact-json.ts';

/** Of a number that keeps its text, or of canonical text. */
export function printDecimal(value: unknown): string {
  return numberText(value) ?? String(value);
}

/** The text of a variable's value. Who reads it checks its digits. */
export function readDecimalValue(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new GraphQLError('A Decimal must be a string or a number.');
}

/** The text as it is in the query: a double would round it. */
export function readDecimalLiteral(node: ValueNode): string {
  if (node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT) return node.value;
  throw new GraphQLError('A Decimal must be a string or a number.', { nodes: node });
}

export function printFeatureValue(value: unknown): string | boolean {
  return typeof value === 'boolean' ? value : printDecimal(value);
}
