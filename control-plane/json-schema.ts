import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { Rejected } from '../schemas/failures.ts';
import { timestampMs } from '../schemas/rules/timestamp.ts';

/** Throws Rejected `invalid_request` with the field at fault. May put defaults and integers into `value`. */
export type Check = (value: unknown) => void;

/** For bodies: nothing is converted. */
export function checkOf(schema: TSchema): Check {
  return compile(bodies, schema);
}

/** For parameters of path and query, which are all text: integers are read, defaults filled in. */
export function textCheckOf(schema: TSchema): Check {
  return compile(texts, schema);
}

/** Moments that usage can have; beyond them the warehouse's dates would wrap around. */
const MOMENT_MS = { min: 0, end: Date.UTC(2100, 0, 1) };

/** Nothing in front of the @ that breaks a mail header. */
const EMAIL_NAME = String.raw`[^\s@"(),:;<>[\\\]\p{Cc}]{1,64}`;
/** Letters and digits of any script. */
const EMAIL_LABEL = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?`;

const formats = {
  'date-time': isMoment,
  email: new RegExp(`^${EMAIL_NAME}@${EMAIL_LABEL}(?:\\.${EMAIL_LABEL})+$`, 'u'),
};

// An infinite number (1e400) is a number that is too large, which the handler says better.
const options = { strict: true, strictNumbers: false, strictTypes: false, formats } as const;
const bodies = new Ajv2020({ ...options, useDefaults: true });
const texts = new Ajv2020({ ...options, useDefaults: true, coerceTypes: true });

function compile(ajv: Ajv2020, schema: TSchema): Check {
  const validate = ajv.compile(schema);
  return (value) => {
    if (!validate(value)) throw refused(validate.errors?.[0]);
  };
}

function refused(error: ErrorObject | undefined): Rejected {
  const param = error ? paramOf(error) : '';
  const named = param === '' ? 'The body' : `\`${param}\``;
  const message = `${named} ${error ? reasonOf(error) : 'is not valid'}.`;
  return new Rejected('invalid_request', message, param === '' ? {} : { param });
}

/** `creditRates.property` for the pointer `/creditRates/property`. */
function paramOf({ instancePath, keyword, params, propertyName }: ErrorObject): string {
  const names = instancePath
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keyword === 'required') names.push(String(params.missingProperty));
  if (propertyName !== undefined) names.push(propertyName);
  return names.join('.');
}

function reasonOf({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'required') return 'is required';
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as string[]).join(', ')}`;
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`;
  if (keyword === 'format' && params.format === 'date-time') {
    return 'must be an RFC 3339 timestamp from 1970 to 2099';
  }
  return message ?? 'is not valid';
}

function isMoment(text: string): boolean {
  const ms = timestampMs(text);
  return ms !== undefined && ms >= MOMENT_MS.min && ms < MOMENT_MS.end;
}
