import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { Rejected } from '../../schemas/failures.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { sizeOfEntry, textBytesOf, textsOf } from './value-bytes.ts';

/** Of the names and values in one response. */
export const RESPONSE_MIB_MAX = 16;
/** Of the rows of lists that are read, shown or not: to show one its JSON is parsed, 0.1 s for so much. */
export const READ_MIB_MAX = 16;
/** Fields that fail: each is an error with its place, a tenth of a millisecond of work. */
export const FAILURES_MAX = 1_000;

const REMEDY = 'Ask for less, or in several requests.';

/** What one query may take. */
export interface ResponseBounds extends Pick<GraphqlContext, 'spendBytes' | 'spendRead' | 'countFailure'> {
  /** Throws Rejected if it has more. */
  check(): void;
}

/**
 * What is too much stops the execution, but not before the next turn of the event loop: an executor that is
 * stopped in the middle of an object leaves the promises of its other fields unhandled, and one that is
 * rejected then ends the process.
 */
export function createResponseBounds(stop: AbortController): ResponseBounds {
  let bytesLeft = RESPONSE_MIB_MAX * 1024 * 1024;
  let readLeft = READ_MIB_MAX * 1024 * 1024;
  let failuresLeft = FAILURES_MAX;
  let rejected: Rejected | undefined;

  function exceed(message: string, limit: string): void {
    if (rejected) return;
    rejected = new Rejected('query_too_complex', message, { details: { limit } });
    setImmediate(() => stop.abort(rejected));
  }

  return {
    spendBytes(bytes) {
      bytesLeft -= bytes;
      if (bytesLeft < 0) exceed(`The response is larger than ${RESPONSE_MIB_MAX} MiB. ${REMEDY}`, 'bytes');
    },
    spendRead(rows) {
      for (const row of rows) readLeft -= textsOf(row);
      if (readLeft >= 0) return;
      exceed(`The query reads more than ${READ_MIB_MAX} MiB of rows. ${REMEDY}`, 'read');
      throw rejected;
    },
    countFailure(error) {
      failuresLeft -= 1;
      if (failuresLeft >= 0) return;
      const last = error instanceof Rejected ? ` The last one: ${error.message}` : '';
      exceed(`More than ${FAILURES_MAX} fields of the query failed.${last}`, 'errors');
    },
    check() {
      if (rejected) throw rejected;
    },
  };
}

/** Every field counts for the response that it is in; objects wait for their turn. */
export function boundResponses(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      bound(field, isLeafType(getNamedType(field.type)) ? counted : paced);
    }
  }
  return schema;
}

type Field = GraphQLField<unknown, GraphqlContext>;

/** What becomes of a field's value. */
type OnValue = (value: unknown, context: GraphqlContext, info: GraphQLResolveInfo) => unknown;

function bound(field: Field, onValue: OnValue): void {
  const resolve = field.resolve ?? defaultFieldResolver;
  field.resolve = (parent, args, context, info) =>
    settled(
      () => resolve(parent, args, context, info),
      context,
      (value) => onValue(value, context, info),
    );
}

/** The size of its name is that of its object, which counts it whether it is there or not. */
function counted(value: unknown, { spendBytes }: GraphqlContext): unknown {
  spendBytes(textBytesOf(value));
  return value;
}

function paced(value: unknown, { spendBytes, pace }: GraphqlContext, info: GraphQLResolveInfo): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { bytes, values } = sizeOfEntry(info);
  if (Array.isArray(value)) {
    spendBytes(value.length * bytes);
    return pace.spread(value, values);
  }
  spendBytes(bytes);
  return pace.turn(values)?.then(() => value) ?? value;
}

/** What the value becomes, at once or later. */
function settled(
  resolve: () => unknown,
  { countFailure }: GraphqlContext,
  then: (value: unknown) => unknown,
): unknown {
  const failed = (error: unknown): never => {
    countFailure(error);
    throw error;
  };
  try {
    const value = resolve();
    return value instanceof Promise ? value.then(then).catch(failed) : then(value);
  } catch (error) {
    return failed(error);
  }
}
