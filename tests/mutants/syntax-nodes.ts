import { visitorKeys } from 'oxc-parser';

/** A node of the syntax tree; where it begins and ends in the text. */
export interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  [property: string]: unknown;
}

/** A node, and where it is one of a list (a body, members, elements) the one behind it. */
export interface Place {
  node: SyntaxNode;
  next: SyntaxNode | undefined;
  isInList: boolean;
}

/** All nodes of a program, each after those that it is in. */
export function placesIn(program: object): Place[] {
  const places: Place[] = [];
  const walk = (node: SyntaxNode) => {
    for (const key of visitorKeys[node.type] ?? []) {
      const value = node[key];
      const children = [value].flat().filter(isNode);
      for (const [at, child] of children.entries()) {
        places.push({ node: child, next: children[at + 1], isInList: Array.isArray(value) });
        walk(child);
      }
    }
  };
  walk(program as SyntaxNode);
  return places;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}
