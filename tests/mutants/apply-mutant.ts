import { type MarkedSource, readMarks } from './marked-places.ts';
import type { Mutant, Verb } from './mutant.ts';
import type { Place, SyntaxNode } from './syntax-nodes.ts';

/** Thrown for a mutant that no longer fits its module: a refactoring must not silence it. */
export class MisfitMutant extends Error {}

/** The text of its module, TypeScript or the JavaScript made of it, with the mutant. Throws MisfitMutant. */
export function applyMutant(path: string, text: string, mutant: Mutant): string {
  const place = placeOf(readMarks(path, text), mutant);
  return EDITS[mutant.verb](text, place, mutant);
}

function placeOf(source: MarkedSource, mutant: Mutant): Place {
  const { name, declaration } = mutant;
  const found = declaration
    ? source.declared(declaration)
    : source.marks.filter((mark) => mark.name === name).map(({ place }) => place);
  const [place] = found;
  if (place && found.length === 1) return place;
  const what = declaration ? `declarations of ${declaration}` : `markers "mutant: ${name}" before code`;
  throw misfit(mutant, `there are ${place ? found.length : 0} ${what}, not one`);
}

export function misfit({ name, module }: Mutant, why: string): MisfitMutant {
  return new MisfitMutant(`The mutant ${name} does not fit ${module}: ${why}.`);
}

type Edit = (text: string, place: Place, mutant: Mutant) => string;

const EDITS: Record<Verb, Edit> = {
  drop: (text, { node }) => {
    // A member or an element goes with its comma; what is left of a statement may be all of an `if`.
    const rest = text.slice(node.end);
    return text.slice(0, node.start) + (isStatement(node) ? `;${rest}` : rest.replace(/^\s*,/, ''));
  },
  never: (text, { node }, mutant) => replaced(text, conditionOf(node, mutant), 'false'),
  always: (text, { node }, mutant) => replaced(text, conditionOf(node, mutant), 'true'),
  later: (text, { node, next }, mutant) => {
    if (!next) throw misfit(mutant, 'nothing follows it');
    const between = text.slice(node.end, next.start);
    return (
      text.slice(0, node.start) + textOf(text, next) + between + textOf(text, node) + text.slice(next.end)
    );
  },
  is: (text, { node }, { code }) => replaced(text, node, code.join()),
  before: (text, place, mutant) => {
    const { node } = inList(place, mutant);
    return replaced(text, node, `${mutant.code.join()} ${textOf(text, node)}`);
  },
  after: (text, place, mutant) => {
    const { node } = inList(place, mutant);
    return replaced(text, node, `${textOf(text, node)} ${mutant.code.join()}`);
  },
  swap: (text, { node }, mutant) => {
    const [find = '', replacement = ''] = mutant.code;
    const pieces = textOf(text, node).split(find);
    if (pieces.length !== 2)
      throw misfit(mutant, `it has ${pieces.length - 1} times what is swapped: ${find}`);
    return replaced(text, node, pieces.join(replacement));
  },
};

function isStatement({ type }: SyntaxNode): boolean {
  return /(Statement|Declaration)$/.test(type);
}

function textOf(text: string, { start, end }: SyntaxNode): string {
  return text.slice(start, end);
}

function replaced(text: string, { start, end }: SyntaxNode, code: string): string {
  return text.slice(0, start) + code + text.slice(end);
}

/** The lone body of an `if` has no room before or behind it. */
function inList(place: Place, mutant: Mutant): Place {
  if (!place.isInList) throw misfit(mutant, 'it stands alone, and nothing can be put beside it');
  return place;
}

/** Where a node of that type keeps what it gives. */
const GIVES: Record<string, string> = {
  ReturnStatement: 'argument',
  ExportNamedDeclaration: 'declaration',
  VariableDeclaration: 'declarations',
  VariableDeclarator: 'init',
  Property: 'value',
  ArrowFunctionExpression: 'body',
  ParenthesizedExpression: 'expression',
};

/** What a node decides by, the test of an `if`, a `while` or a ternary; else the value that it gives. */
function conditionOf(node: SyntaxNode, mutant: Mutant): SyntaxNode {
  if (/^(If|While)Statement$|^ConditionalExpression$/.test(node.type)) return node.test as SyntaxNode;
  const [given] = [node[GIVES[node.type] ?? '']].flat();
  if (given) return conditionOf(given as SyntaxNode, mutant);
  if (isStatement(node)) throw misfit(mutant, `a ${node.type} decides nothing`);
  return node;
}
