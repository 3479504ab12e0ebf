import { defaultFieldResolver, type GraphQLSchema, getNamedType, isLeafType, isObjectType } from 'graphql';
import { Rejected } from '../../schemas/failures.ts';
import type { GraphqlContext } from './graphql-context.ts';

/** Of the names and values in one response. */
export const RESPONSE_MIB_MAX = 16;
/** Of a value in addition to its text: quotes, a comma, a colon; or a number. */
const BYTES_OF_VALUE = 8;

const REMEDY = 'Ask for less, or in several requests.';

/** Takes bytes from what a response may have; what is too much stops the execution, and throws. */
export function createByteBudget(stop: AbortController): GraphqlContext['spendBytes'] {
  let left = RESPONSE_MIB_MAX * 1024 * 1024;
  return (bytes) => {
    left -= bytes;
    if (left >= 0) return;
    const error = tooLarge();
    stop.abort(error);
    throw error;
  };
}

function tooLarge(): Rejected {
  const message = `The response is larger than ${RESPONSE_MIB_MAX} MiB. ${REMEDY}`;
  return new Rejected('query_too_complex', message, { details: { limit: 'bytes' } });
}

/** Every value of the schema's own types counts for the response that it is in. */
export function countBytes(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (!isLeafType(getNamedType(field.type))) continue;
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (parent, args, context: GraphqlContext, info) => {
        const counted = (value: unknown) => {
          context.spendBytes(String(info.path.key).length + bytesOf(value));
          return value;
        };
        const value: unknown = resolve(parent, args, context, info);
        return value instanceof Promise ? value.then(counted) : counted(value);
      };
    }
  }
  return schema;
}

function bytesOf(root: unknown): number {
  let bytes = 0;
  const rest: unknown[] = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    bytes += BYTES_OF_VALUE;
    if (typeof value === 'string') bytes += Buffer.byteLength(value);
    if (typeof value !== 'object' || value === null) continue;
    const entries = value instanceof Map ? value : Object.entries(value);
    for (const [name, inner] of entries) rest.push(name, inner);
  }
  return bytes;
}
