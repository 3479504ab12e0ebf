import { DatabaseError } from 'pg';

/**
 * For `catch`: what is taken is the caller's fault, and said so; the transaction is over either way. The
 * refusal may tell by the name of the index what it is.
 */
export function whenTaken(rejection: (index: string) => Error): (error: unknown) => never {
  return (error) => {
    throw error instanceof DatabaseError && error.code === UNIQUE_VIOLATION
      ? rejection(error.constraint ?? '')
      : error;
  };
}

/** SQLSTATE. */
const UNIQUE_VIOLATION = '23505';
