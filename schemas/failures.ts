/**
 * The kinds of failure, named for what the caller does next. A `code` is stable and for machines;
 * nobody decides anything by the text of a message.
 */
import { ERROR_STATUS, type ErrorCode, type Rejection } from './error-codes.ts';

/** 4xx: the request is at fault; it changed nothing. */
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

/** Something we need is away or slow; the same call may succeed later. Its outcome may be unknown. */
export class Transient extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Transient';
    this.code = code;
  }
}

/** These bytes will never be accepted: set them aside, with an alarm, and go on. */
export class Poison extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Poison';
    this.code = code;
  }
}

/** Going on could lose or double an event: say why and stop the process. */
export class Fatal extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Fatal';
    this.code = code;
  }
}

/** What cannot be, is: a mistake of ours, answered 500 and logged. Drivers throw bare Errors: never do. */
export class Defect extends Error {
  readonly code = 'defect';

  constructor(message: string) {
    super(message);
    this.name = 'Defect';
  }
}
