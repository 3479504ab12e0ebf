/**
 * The kinds of failure, named for what the caller does next. A `code` is stable and for machines; no code
 * decides by the text of a message.
 */
import { ERROR_STATUS, type ErrorCode, type Rejection } from './error-codes.ts';

/** 4xx: the request is at fault and has changed nothing. */
export class Rejected extends Error {
  readonly rejection: Rejection;

  constructor(code: ErrorCode, message: string, more: Pick<Rejection, 'param' | 'details'> = {}) {
    super(message);
    this.name = 'Rejected';
    this.rejection = { code, message, ...more };
  }

  get status(): number {
    return ERROR_STATUS[this.rejection.code];
  }
}

/** A dependency is unavailable or slow. The same call may succeed later; its outcome may be unknown. */
export class Transient extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Transient';
    this.code = code;
  }
}

/** These bytes will never be accepted: the caller quarantines them, raises an alarm and continues. */
export class Poison extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Poison';
    this.code = code;
  }
}

/** Continuing could lose or double an event: the process logs why and stops. */
export class Fatal extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Fatal';
    this.code = code;
  }
}

/** A bug: the response is 500 and the error is logged. Code never throws a bare Error, since drivers do. */
export class Defect extends Error {
  readonly code = 'defect';

  constructor(message: string) {
    super(message);
    this.name = 'Defect';
  }
}
