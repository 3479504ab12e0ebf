import type { AttemptError } from '../../schemas/stored/webhook-attempt.ts';

/** An attempt came to nothing. Thrown between the parts of an attempt; what is told of it is its code. */
export class AttemptFailed extends Error {
  readonly code: AttemptError;

  constructor(code: AttemptError, options?: ErrorOptions) {
    super(code, options);
    this.name = 'AttemptFailed';
    this.code = code;
  }
}
