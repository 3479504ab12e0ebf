import { GraphQLError, Lexer, parse, Source, TokenKind } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { Rejected } from '../../schemas/failures.ts';
import { asGraphqlError } from './shown-errors.ts';

/** Brackets within brackets: more than a query within the limits has. Each is a stack frame of the parser. */
const NESTING_MAX = 64;
/** Graphql finds no further errors of one query. */
const ERRORS_MAX = 100;

/** An error reads all lines before its own: in a query of empty lines each would take a millisecond. */
const LINES_MAX = 2_000;

/** How graphql says that the comparison of fields, or of fragments, met its limit. */
const ABORTED = 'Validation aborted.';

/** Parsing and validation, each within a bound that its error names. */
export const withinBounds: Plugin = {
  onParse({ setParseFn }) {
    setParseFn((source: string | Source, options?: object) => {
      checkShape(typeof source === 'string' ? source : source.body);
      return parse(source, options);
    });
  },
  onValidate() {
    return ({ result, setResult }) => {
      const errors = result.filter(({ message }) => message !== ABORTED);
      if (errors.length < result.length) setResult([tooLong(), ...errors]);
      else if (result.length > ERRORS_MAX) setResult([...result.slice(0, ERRORS_MAX), tooManyErrors()]);
    };
  },
};

/** Throws GraphQLError, also of what is no token. */
function checkShape(body: string): void {
  const lexer = new Lexer(new Source(body));
  let depth = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    if (OPENING.has(token.kind)) depth += 1;
    if (CLOSING.has(token.kind)) depth -= 1;
    if (depth > NESTING_MAX) throw tooNested();
    if (token.line > LINES_MAX) throw tooManyLines();
  }
}

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

function tooNested(): GraphQLError {
  return new GraphQLError(`The query has brackets ${NESTING_MAX + 1} deep; the limit is ${NESTING_MAX}.`);
}

function tooManyLines(): GraphQLError {
  return new GraphQLError(`The query has more than ${LINES_MAX} lines, which is the limit.`);
}

function tooLong(): GraphQLError {
  const message =
    'The query has too many fields of one name, or too many fragments, to be validated. ' +
    'Ask for less, or in several requests.';
  return asGraphqlError(new Rejected('query_too_complex', message, { details: { limit: 'fields' } }));
}

function tooManyErrors(): GraphQLError {
  return new GraphQLError(`The query has more than ${ERRORS_MAX} errors; the others are not listed.`);
}
