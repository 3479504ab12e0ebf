import { parseSync } from 'oxc-parser';

interface Variables {
  /** Every name of a variable, type or import in the text. */
  used: Set<string>;
  /** Those that the text declares in `const`, `let` or as parameters. */
  declared: Set<string>;
}

type Syntax = Record<string, unknown> & { type?: string };

export function variablesIn(path: string, text: string): Variables {
  const variables: Variables = { used: new Set(), declared: new Set() };
  const { program } = parseSync(path, text);
  collect(program, variables.used);
  collectDeclared(program, variables.declared);
  return variables;
}

/** Without members of objects, and without keys. */
function collect(node: unknown, names: Set<string>): void {
  if (Array.isArray(node)) for (const one of node) collect(one, names);
  if (!isSyntax(node)) return;
  if (node.type === 'Identifier') names.add(String(node.name));
  const isMember = node.type === 'MemberExpression' && node.computed !== true;
  const isPair = node.type === 'Property' && node.computed !== true && node.shorthand !== true;
  for (const [key, child] of Object.entries(node)) {
    if (!(isMember && key === 'property') && !(isPair && key === 'key')) collect(child, names);
  }
}

function collectDeclared(node: unknown, names: Set<string>): void {
  if (Array.isArray(node)) for (const one of node) collectDeclared(one, names);
  if (!isSyntax(node)) return;
  if (node.type === 'VariableDeclarator') collect(node.id, names);
  collect(node.params, names);
  for (const child of Object.values(node)) collectDeclared(child, names);
}

function isSyntax(node: unknown): node is Syntax {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}
