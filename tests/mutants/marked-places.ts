import { type Comment, parseSync } from 'oxc-parser';
import { type Place, placesIn, type SyntaxNode } from './syntax-nodes.ts';

export interface MarkedSource {
  /** In their order; no place where no code follows. */
  marks: ReadonlyArray<{ name: string; place: Place | undefined }>;
  /** Functions, methods and constants of that name. */
  declared(name: string): Place[];
}

/**
 * Reads the markers of a module: `// mutant: NAME` above a statement or a member, or inline before an
 * expression; of several mutants `// mutant: NAME, OTHER`. A marker leads to the outermost node that begins
 * right behind it. Types are of no account: the JavaScript made of a module has the same markers.
 */
export function readMarks(path: string, text: string): MarkedSource {
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const places = placesIn(program);
  const marks = comments.flatMap((comment) => {
    const names = namesIn(comment);
    if (names.length === 0) return [];
    const begin = beginBehind(comment, text, comments);
    const place = places.find(({ node }) => node.start === begin);
    return names.map((name) => ({ name, place }));
  });
  return { marks, declared: (name) => places.filter(({ node }) => nameOf(node) === name) };
}

const MARKER = /^\s*mutant: ([a-z0-9-]+(?:, [a-z0-9-]+)*)\s*$/;

function namesIn({ value }: Comment): string[] {
  return MARKER.exec(value)?.[1]?.split(', ') ?? [];
}

function beginBehind({ end }: Comment, text: string, comments: readonly Comment[]): number {
  const begin = end + text.slice(end).search(/\S|$/);
  const next = comments.find(({ start }) => start === begin);
  return next ? beginBehind(next, text, comments) : begin;
}

const DECLARATIONS = new Set(['FunctionDeclaration', 'VariableDeclarator', 'Property', 'MethodDefinition']);

function nameOf({ type, id, key }: SyntaxNode): unknown {
  return DECLARATIONS.has(type) ? ((id ?? key) as { name?: string } | undefined)?.name : undefined;
}
