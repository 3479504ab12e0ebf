import { parseSync } from 'oxc-parser';
import { placesIn, type SyntaxNode } from './syntax-nodes.ts';

interface Variables {
  /** Every name of a variable, type or import in the text. */
  used: Set<string>;
  /** Those that the text declares in `const`, `let` or as parameters. */
  declared: Set<string>;
}

export function variablesIn(path: string, text: string): Variables {
  const { program } = parseSync(path, text);
  const nodes = nodesIn(program);
  const declaring = nodes.flatMap(({ type, id, params }) => {
    return [type === 'VariableDeclarator' ? id : [], params ?? []].flat() as SyntaxNode[];
  });
  return { used: namesIn(nodes), declared: namesIn(declaring.flatMap((one) => [one, ...nodesIn(one)])) };
}

function nodesIn(node: object): SyntaxNode[] {
  return placesIn(node).map((place) => place.node);
}

/** Without members of objects, and without keys. */
function namesIn(nodes: readonly SyntaxNode[]): Set<string> {
  const apart = new Set<unknown>(nodes.map(memberOf));
  const names = nodes.filter((node) => node.type === 'Identifier' && !apart.has(node));
  return new Set(names.map(({ name }) => String(name)));
}

function memberOf({ type, computed, shorthand, property, key }: SyntaxNode): unknown {
  if (computed === true) return undefined;
  if (type === 'MemberExpression') return property;
  return type === 'Property' && shorthand !== true ? key : undefined;
}
