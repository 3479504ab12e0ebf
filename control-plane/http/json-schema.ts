import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { Rejected } from '../../schemas/failures.ts';
import { timestampMs } from '../../schemas/primitives/timestamp.ts';
import { rejectionHint, rejectionReason } from './rejection-reason.ts';

/** Throws Rejected `invalid_request` with the field at fault. May put defaults and integers into `value`. */
export type Check = (value: unknown) => void;

/** For bodies: values are not converted. */
export function checkOf(schema: TSchema): Check {
  return compile(bodies, schema, (names) => names.join('.'));
}

/** For parameters of path and query, which are all strings: integers are parsed, defaults filled in. */
export function textCheckOf(schema: TSchema): Check {
  return compile(texts, schema, ([name = '', ...members]) => [name, ...members.map(inBrackets)].join(''));
}

/** The times that usage can have; beyond them the warehouse's dates would wrap around. */
const TIME_MS = { min: 0, end: Date.UTC(2100, 0, 1) };

/** The part before the @ contains nothing that corrupts a mail header. */
const EMAIL_NAME = String.raw`[^\s@"(),:;<>[\\\]\p{Cc}]{1,64}`;
/** Letters and digits of any script. */
const EMAIL_LABEL = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?`;

const formats = {
  'date-time': isTime,
  // The reading code checks its digits.
  decimal: { type: 'number' as const, validate: () => true },
  email: new RegExp(`^${EMAIL_NAME}@${EMAIL_LABEL}(?:\\.${EMAIL_LABEL})+$`, 'u'),
};

// An infinite number (1e400) is a number that is too large, for which the handler has the better message.
const options = {
  strict: true,
  // Of a union the branch that its member names: its errors are those that are reported.
  discriminator: true,
  strictNumbers: false,
  strictTypes: false,
  useDefaults: true,
  // Errors contain their schema: the reasons need it.
  verbose: true,
  keywords: ['x-pattern-rule', 'x-type-rule'],
  formats,
};
const bodies = new Ajv2020(options);
const texts = new Ajv2020({ ...options, coerceTypes: true });

/** The name of a field as its client writes it. */
type ShownName = (path: string[]) => string;

/** `filter[region]`, as in the address. */
function inBrackets(name: string): string {
  return `[${name}]`;
}

/** Compiled on first use: to compile the checks of all operations would take a quarter of a start. */
function compile(ajv: Ajv2020, schema: TSchema, shown: ShownName): Check {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(schema);
    if (!validate(value)) throw rejected(notifyingError(validate.errors ?? []), shown);
  };
}

/**
 * For a union, whose own error comes last, after those of its branches: the error of the branch that accepts
 * a value of this type, else that no branch does.
 */
function notifyingError(errors: ErrorObject[]): ErrorObject | undefined {
  const last = errors.at(-1);
  if (last?.keyword !== 'anyOf') return errors[0];
  return errors.find((one) => one.keyword !== 'type' || one.instancePath !== last.instancePath);
}

function rejected(error: ErrorObject | undefined, shown: ShownName): Rejected {
  if (!error) return new Rejected('invalid_request', 'The body is not valid.');
  const param = shown(pathOf(error));
  const value = param === '' ? 'The body' : `\`${param}\``;
  const named = error.propertyName === undefined ? value : `The name of ${value}`;
  const message = `${named} ${rejectionReason(error)}.${rejectionHint(error)}`;
  return new Rejected('invalid_request', message, param === '' ? {} : { param });
}

/** `creditRates`, `property` for the pointer `/creditRates/property`. */
function pathOf({ instancePath, keyword, params, propertyName }: ErrorObject): string[] {
  const names = instancePath
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keyword === 'required') names.push(String(params.missingProperty));
  if (keyword === 'discriminator') names.push(String(params.tag));
  if (propertyName !== undefined) names.push(propertyName);
  return names;
}

function isTime(text: string): boolean {
  const ms = timestampMs(text);
  return ms !== undefined && ms >= TIME_MS.min && ms < TIME_MS.end;
}
