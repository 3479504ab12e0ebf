import type { ErrorObject } from 'ajv';
import { misspelling, notKnown } from '../../schemas/primitives/similar-name.ts';
import { timestampFault } from '../../schemas/primitives/timestamp-fault.ts';

/** What a value must be, as the end of "`name` …": the validator's own messages are about its keywords. */
export function rejectionReason(error: ErrorObject): string {
  return REASONS[error.keyword]?.(error) ?? 'is not valid';
}

type Reason = (error: ErrorObject) => string;

const REASONS: Record<string, Reason> = {
  required: () => 'is required',
  type: ({ params, parentSchema }) => parentSchema?.['x-type-rule'] ?? mustBe([params.type].flat()),
  anyOf: ({ parentSchema }) => mustBe(typesOf(parentSchema?.anyOf)),
  enum: ({ params }) => `must be one of ${params.allowedValues.join(', ')}`,
  discriminator: ({ params, parentSchema }) => `must be one of ${tagsOf(params.tag, parentSchema?.oneOf)}`,
  const: ({ params }) => `must be ${JSON.stringify(params.allowedValue)}`,
  format: ({ params, data }) => FORMATS[params.format]?.(String(data)) ?? 'is not valid',
  pattern: ({ parentSchema }) => parentSchema?.['x-pattern-rule'] ?? 'is not valid',
  minLength: ({ params }) => atLeast(params.limit, 'characters'),
  maxLength: ({ params }) => `must have at most ${params.limit} characters`,
  minimum: inRange,
  maximum: inRange,
  exclusiveMinimum: ({ params }) => `must be more than ${params.limit}`,
  minItems: ({ params }) => atLeast(params.limit, 'entries'),
  maxItems: ({ params }) => `must have at most ${params.limit} entries`,
  uniqueItems: () => 'must not contain duplicates',
  minProperties: ({ params }) => atLeast(params.limit, 'entries'),
  maxProperties: ({ params }) => `must have at most ${params.limit} entries`,
};

const FORMATS: Record<string, (text: string) => string> = {
  'date-time': (text) => timestampFault(text) ?? 'must be between 1970 and 2099',
  email: () => 'must be an email address, like ada@example.com',
};

/** For a missing member an additional sentence: the name under which it was probably sent. */
export function rejectionHint({ keyword, params, parentSchema, data }: ErrorObject): string {
  if (keyword !== 'required') return '';
  const known: object = parentSchema?.properties ?? {};
  const unknown = Object.keys(data as object).filter((name) => !Object.hasOwn(known, name));
  const sent = misspelling(String(params.missingProperty), unknown);
  return sent === undefined ? '' : ` ${notKnown(sent)} Did you mean \`${params.missingProperty}\`?`;
}

/** The values of the member that names a branch. */
function tagsOf(
  tag: string,
  branches: Array<{ properties: Record<string, { const: unknown }> }> = [],
): string {
  return branches.map(({ properties }) => properties[tag]?.const).join(', ');
}

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'a boolean',
  object: 'an object',
  array: 'a list',
};

function typesOf(branches: Array<{ type?: string | string[] }> = []): string[] {
  return branches.flatMap(({ type = [] }) => type);
}

/** `must be a string, a number or null`. */
function mustBe(types: string[]): string {
  const named = types.map((type) => TYPES[type] ?? type);
  const last = named.pop() ?? 'valid';
  return `must be ${named.length === 0 ? last : `${named.join(', ')} or ${last}`}`;
}

function atLeast(limit: number, what: string): string {
  return limit === 1 ? 'must not be empty' : `must have at least ${limit} ${what}`;
}

interface Range {
  type?: string | string[];
  minimum?: number;
  maximum?: number;
}

function inRange({ parentSchema }: ErrorObject): string {
  const { type, minimum, maximum } = parentSchema as Range;
  const number = type === 'integer' ? 'a whole number' : 'a number';
  if (minimum === undefined) return `must be ${number} of at most ${maximum}`;
  if (maximum === undefined) return `must be ${number} of at least ${minimum}`;
  return `must be ${number} from ${minimum} to ${maximum}`;
}
