import type { AttemptError } from '../../schemas/stored/webhook-attempt.ts';

/** An attempt failed. Thrown between the parts of an attempt; its code is what the API shows. */
export class AttemptFailed extends Error {
  readonly code: AttemptError;

  constructor(code: AttemptError, options?: ErrorOptions) {
    super(code, options);
    this.name = 'AttemptFailed';
    this.code = code;
  }
}
