import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { parseSync } from 'oxc-parser';
import { placesIn, type SyntaxNode } from './syntax-nodes.ts';

/** A text in pieces; what is filled in between two of them is known when it runs. */
type Pieces = readonly string[];

/** What a file has of tests, or gives to those that import it: the suite of a port, say. */
interface TestSource {
  imports: string[];
  titles: Pieces[];
  /** Every text in it: what is filled in is one of them. */
  texts: Pieces[];
}

/** Whether a test file, or a suite that it imports, has a test of that title. */
export function hasTest(path: string, title: string): boolean {
  if (!existsSync(path)) return false;
  if (path.endsWith('.py')) return hasPythonTest(readFileSync(path, 'utf8'), title);
  const files = [...withSuites(path)].map(sourceOf);
  const texts = files.flatMap((one) => one.texts);
  const whole = texts.filter(({ length }) => length === 1).map(([text = '']) => text);
  const made = texts.filter((pieces) => pieces.length > 1 && /\w{3}/.test(pieces.join('')));
  const isThere = (text: string): boolean =>
    whole.includes(text) || made.some((pieces) => fits(pieces, text));
  const fits = (pieces: Pieces, text: string): boolean => {
    const filledIn = patternOf(pieces).exec(text)?.slice(1);
    return filledIn?.every((one) => isThere(one.replace(QUOTES, '$2'))) ?? false;
  };
  return files.some(({ titles }) => titles.some((pieces) => fits(pieces, title)));
}

/** `Class.test_name`. */
function hasPythonTest(text: string, title: string): boolean {
  const [name, test] = title.split('.');
  const [, body = ''] = text.split(new RegExp(`^class ${name}\\b.*:$`, 'm'));
  const [ofClass = ''] = body.split(/^\S/m);
  return ofClass.includes(`\n    def ${test}(`);
}

function withSuites(path: string, found = new Set<string>()): Set<string> {
  found.add(path);
  for (const one of sourceOf(path).imports) if (!found.has(one) && SUITE.test(one)) withSuites(one, found);
  return found;
}

const SUITE = /\/conformance\/|-under-test\.ts$/;
/** Around a text that is filled in. */
const QUOTES = /^(['"])(.*)\1$/;
const FILLED_IN = /%[sdifjo#]|\$\w+(?:\.\w+)*/;

const known = new Map<string, TestSource>();

function sourceOf(path: string): TestSource {
  const source = known.get(path) ?? readTests(path);
  known.set(path, source);
  return source;
}

function readTests(path: string): TestSource {
  const { program, module } = parseSync(path, readFileSync(path, 'utf8'));
  const nodes = placesIn(program).map(({ node }) => node);
  const imported = module.staticImports.map(({ moduleRequest }) => moduleRequest.value);
  return {
    imports: imported.filter((one) => /^\..*\.ts$/.test(one)).map((one) => join(path, '..', one)),
    titles: nodes.filter(isTest).map((node) => titleOf(node.arguments as SyntaxNode[])),
    texts: nodes.map(piecesOf).filter((pieces) => pieces !== undefined),
  };
}

/** `it('…')`, `it.each([…])('…')`, `test.skipIf(…)('…')`. */
function isTest({ type, callee }: SyntaxNode): boolean {
  if (type !== 'CallExpression') return false;
  const { name, callee: maker } = callee as SyntaxNode;
  return /^(it|test)$/.test(String(name ?? (maker && rootOf(maker as SyntaxNode))));
}

function rootOf({ name, object }: SyntaxNode): unknown {
  return object ? rootOf(object as SyntaxNode) : name;
}

function titleOf([title]: SyntaxNode[]): Pieces {
  const pieces = (title && piecesOf(title)) ?? ['', ''];
  return pieces.flatMap((text) => text.split(FILLED_IN));
}

function patternOf(pieces: Pieces): RegExp {
  return new RegExp(`^${pieces.map(literal).join('(.+)')}$`);
}

/** A pattern of this very text. */
export function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The texts around what is filled in; undefined of what is no text. */
function piecesOf(node: SyntaxNode): Pieces | undefined {
  if (node.type === 'Literal') return [String(node.value)];
  if (node.type === 'TemplateLiteral') {
    const quasis = node.quasis as Array<{ value: { cooked: string | null; raw: string } }>;
    return quasis.map(({ value }) => value.cooked ?? value.raw);
  }
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined;
  const [left, right] = [node.left, node.right].map((side) => piecesOf(side as SyntaxNode));
  if (!left || !right) return undefined;
  return [...left.slice(0, -1), `${left.at(-1)}${right[0]}`, ...right.slice(1)];
}
