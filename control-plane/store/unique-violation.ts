import { DatabaseError } from 'pg';

/** For `catch`: what is taken is the caller's fault, and said so; the transaction is over either way. */
export function whenTaken(refusal: () => Error): (error: unknown) => never {
  return (error) => {
    throw error instanceof DatabaseError && error.code === UNIQUE_VIOLATION ? refusal() : error;
  };
}

/** SQLSTATE. */
const UNIQUE_VIOLATION = '23505';
