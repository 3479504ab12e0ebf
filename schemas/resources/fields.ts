/** Pieces that the schemas of several resources share. */
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import type { ExactNumber } from '../primitives/exact-json.ts';

const ID_CHARS_MAX = 128;
const NAME_CHARS_MAX = 200;

/**
 * Exact; a client may send at most 15 integer and 12 fraction digits. The format (of the OpenAPI registry)
 * distinguishes it from counts and rates: `Prefer: numbers=text` returns decimals alone as strings.
 */
export const Decimal = Type.Unsafe<ExactNumber>({ type: 'number', format: 'decimal' });

/** RFC 3339 with any offset in, UTC with milliseconds out. */
export const Timestamp = Type.String({ format: 'date-time' });

export const Name = Type.String({
  minLength: 1,
  maxLength: NAME_CHARS_MAX,
  ...ruled('\\S', 'must contain a character other than white space'),
});

export const NamedId = Type.String({ minLength: 1, maxLength: ID_CHARS_MAX });

/**
 * An Idempotency-Key in a header: visible ASCII, with spaces inside. Some servers read other bytes as
 * Latin-1, some as UTF-8.
 */
export const HEADER_KEY_PATTERN = '^[!-~]([ -~]*[!-~])?$';

export const Nothing = Type.Object({});

/**
 * Every name of a record. The pattern of `Type.String()` matches none with a line break, and the value of
 * such a name would not be checked.
 */
export const AnyName = Type.String({ pattern: '^[\\s\\S]*$' });

/** Text, number and boolean values by name, as properties of an event and metadata are. */
export const PlainValues = Type.Record(
  AnyName,
  Type.Union([Type.String({ maxLength: 256 }), Type.Number(), Type.Boolean()]),
  { maxProperties: 32, propertyNames: { minLength: 1, maxLength: 64 } },
);

/** `page × pageSize` must stay a number that Postgres takes as an offset. */
const PAGE_MAX = 2 ** 31 - 1;

export const PageQuery = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: PAGE_MAX, default: 1 }),
  pageSize: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
});
export type PageQuery = Static<typeof PageQuery>;

export function pageOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    data: Type.Array(item),
    total: Type.Integer(),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    totalPages: Type.Integer(),
    hasNext: Type.Boolean(),
    hasPrev: Type.Boolean(),
  });
}

/** A pattern, and its rule as error messages state it: "`name` must …". */
export function ruled(pattern: string, rule: string) {
  return { pattern, 'x-pattern-rule': rule };
}

/** An object with optional fields only. */
export function optional<P extends TProperties>(fields: P) {
  return Type.Partial(Type.Object(fields));
}

/** null removes the value. */
export function removable<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Of an operation that pages of any origin call. */
export const PublishableKeyQuery = Type.Object({
  key: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'A publishable key, in place of a header. Secret keys are rejected.',
    }),
  ),
});
