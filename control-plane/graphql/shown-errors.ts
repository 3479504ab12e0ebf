import { GraphQLError } from 'graphql';
import type { ErrorCode, Rejection } from '../../schemas/error-codes.ts';
import { Rejected, Transient } from '../../schemas/failures.ts';

/**
 * An error as the response shows it: with the code that the REST API has for it in `extensions.code`. Of
 * what is a fault of ours it shows nothing; `onUnexpected` gets it.
 */
export function shownError(error: unknown, onUnexpected: (error: unknown) => void): GraphQLError {
  const cause = causeOf(error);
  if (cause instanceof Rejected) return withCode(error, cause.rejection);
  if (cause instanceof Transient) return withCode(error, UNAVAILABLE);
  // The query itself, or a variable: graphql's messages name what is wrong with it, and nothing of ours.
  if (cause instanceof GraphQLError)
    return withCode(error, { code: 'invalid_request', message: messageOf(error) });
  onUnexpected(cause);
  return withCode(error, INTERNAL);
}

/** For a result that no execution made. */
export function asGraphqlError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const originalError = error as Error;
  return new GraphQLError(originalError.message, { originalError });
}

const UNAVAILABLE: Rejection = {
  code: 'unavailable',
  message: 'A dependency is temporarily unavailable. Retry the request.',
};
const INTERNAL: Rejection = {
  code: 'internal',
  message: 'An internal error occurred. Report its requestId, which is in the X-Request-Id header.',
};

/** Beneath the errors that only add a place. */
function causeOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function withCode(error: unknown, { code, message, param, details }: Rejection): GraphQLError {
  const { nodes, path } = error instanceof GraphQLError ? error : {};
  const extensions: { code: ErrorCode } & Omit<Rejection, 'code' | 'message'> = {
    code,
    ...(param === undefined ? {} : { param }),
    ...(details === undefined ? {} : { details }),
  };
  return new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null, extensions });
}
