import { DatabaseError } from 'pg';

/**
 * For `catch`: the caller chose a value that is in use, and gets that error; the transaction is over either
 * way. The error may be chosen by the name of the index.
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
