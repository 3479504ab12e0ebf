import { GraphQLError, Lexer, parse, Source, TokenKind } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** Brackets within brackets: more than a query within the limits has. The parser has a stack frame for each. */
const NESTING_MAX = 64;
/** Graphql finds no further errors of one query. */
const ERRORS_MAX = 100;

/** Parsing and validation, each within a bound that its error names. */
export const withinBounds: Plugin = {
  onParse({ setParseFn }) {
    setParseFn((source: string | Source, options?: object) => {
      checkNesting(typeof source === 'string' ? source : source.body);
      return parse(source, options);
    });
  },
  onValidate() {
    return ({ result, setResult }) => {
      if (result.length > ERRORS_MAX) setResult([...result.slice(0, ERRORS_MAX), tooManyErrors()]);
    };
  },
};

/** Throws GraphQLError, also of what is no token. */
function checkNesting(body: string): void {
  const lexer = new Lexer(new Source(body));
  let depth = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    if (OPENING.has(token.kind)) depth += 1;
    if (CLOSING.has(token.kind)) depth -= 1;
    if (depth > NESTING_MAX) throw tooNested();
  }
}

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

function tooNested(): GraphQLError {
  return new GraphQLError(`The query has brackets ${NESTING_MAX + 1} deep; the limit is ${NESTING_MAX}.`);
}

function tooManyErrors(): GraphQLError {
  return new GraphQLError(`The query has more than ${ERRORS_MAX} errors; the others are not listed.`);
}
