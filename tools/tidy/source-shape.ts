import { parseSync, visitorKeys } from 'oxc-parser';

/** What the house rules check of a source file. */
export interface SourceShape {
  imports: Array<{ specifier: string; line: number }>;
  defaultExport: boolean;
  functions: FunctionSpan[];
}

export interface FunctionSpan {
  name: string;
  line: number;
  /** From its first line to its last, without markers of mutants. */
  lines: number;
  /** The same without the lines of functions inside it. */
  ownLines: number;
  parameters: number;
}

/** Reads a TypeScript or JavaScript file. Throws when it does not parse. */
export function readSource(path: string, text: string): SourceShape {
  const { program, module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const lineOf = lineCounter(text);
  const { staticImports, staticExports, dynamicImports } = module;
  const reExports = staticExports.flatMap((one) => one.entries.slice(0, 1));
  const imports = [...staticImports, ...reExports].flatMap(({ moduleRequest, start }) => {
    return moduleRequest ? [{ specifier: moduleRequest.value, line: lineOf(start) }] : [];
  });
  for (const { moduleRequest, start } of dynamicImports) {
    const literal = /^(['"])(.*)\1$/.exec(text.slice(moduleRequest.start, moduleRequest.end));
    if (literal?.[2] !== undefined) imports.push({ specifier: literal[2], line: lineOf(start) });
  }
  const exported = staticExports.flatMap((one) => one.entries);
  return {
    imports,
    defaultExport: exported.some((entry) => entry.exportName.kind === 'Default'),
    functions: functionSpans(program as unknown as SyntaxNode, lineOf, markersIn(text)),
  };
}

interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  params?: unknown[];
  id?: { name?: string } | null;
  key?: { name?: string };
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** Where each line is that says nothing but which mutant changes the next one. */
function markersIn(text: string): number[] {
  return [...text.matchAll(/^ *\/\/ mutant: .*$/gm)].map(({ index }) => index);
}

function functionSpans(
  program: SyntaxNode,
  lineOf: (offset: number) => number,
  markers: readonly number[],
): FunctionSpan[] {
  const spans: FunctionSpan[] = [];
  /** Returns the lines of the outermost functions within. */
  const walk = (node: SyntaxNode, name: string): number => {
    const known = node.id?.name ?? node.key?.name ?? name;
    const isFunction = FUNCTIONS.has(node.type);
    const span = { name: known, line: lineOf(node.start), lines: 0, ownLines: 0, parameters: 0 };
    if (isFunction) spans.push(span);
    const inner = childrenOf(node).reduce((sum, child) => sum + walk(child, known), 0);
    if (!isFunction) return inner;
    const marked = markers.filter((at) => at > node.start && at < node.end);
    span.lines = lineOf(node.end) - span.line + 1 - marked.length;
    span.ownLines = span.lines - inner;
    span.parameters = node.params?.length ?? 0;
    return span.lines;
  };
  walk(program, '(anonymous)');
  return spans;
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return (visitorKeys[node.type] ?? []).flatMap((key) => {
    const value = (node as unknown as Record<string, unknown>)[key];
    return (Array.isArray(value) ? value : [value]).filter(isNode);
  });
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function lineCounter(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}
