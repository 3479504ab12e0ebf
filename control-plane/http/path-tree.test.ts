import { Router } from '@koa/router';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../schemas/route.ts';
import { ROUTES } from '../../schemas/routes.ts';
import { createPathTree } from './path-tree.ts';

/*
 * Mutants this suite catches: a parameter before a concrete segment; no backtracking from a dead end; an
 * empty segment used as a parameter; names in another order; an encoded path matched.
 */
const templates = [...new Set(Object.values<Route>(ROUTES).map(({ path }) => path))];

/** The router's result, with all templates in the order in which they are mounted. */
function createOracle(paths: string[]) {
  const router = new Router({ sensitive: true, strict: true });
  const sortable = (path: string) => path.replaceAll('{', '\uffff');
  const sorted = [...paths].sort((a, b) => (sortable(a) < sortable(b) ? -1 : 1));
  for (const path of sorted) router.all(path.replace(/\{(\w+)\}/g, ':$1'), () => undefined);
  return (path: string) => {
    const [layer] = router.match(path, 'GET').path;
    if (!layer) return undefined;
    const template = String(layer.path).replace(/:(\w+)/g, '{$1}');
    return { value: template, params: { ...layer.params(path, layer.captures(path)) } };
  };
}

function treeOf(paths: string[]) {
  return createPathTree(paths.map((path) => [path, path] as const));
}

describe('the tree of paths', () => {
  it('finds what the router finds, for paths near those of the route table', () => {
    const [tree, oracle] = [treeOf(templates), createOracle(templates)];
    const segment = fc.oneof(
      fc.constantFrom(...new Set(templates.flatMap((path) => path.split('/')))),
      fc.constantFrom('cus_1', 'x', '', '.', 'Events', 'a:b', '~'),
    );
    const filled = fc
      .tuple(fc.constantFrom(...templates), fc.array(segment, { minLength: 4, maxLength: 4 }))
      .map(([path, values]) => path.replace(/\{\w+\}/g, () => values.pop() ?? 'x'));
    const anything = fc.array(segment, { maxLength: 9 }).map((segments) => `/${segments.join('/')}`);
    const path = fc.oneof(
      filled,
      filled.map((text) => `${text}/`),
      anything,
    );
    fc.assert(
      fc.property(path, (text) => {
        expect(tree.find(text)).toEqual(oracle(text));
      }),
      { numRuns: 3_000 },
    );
  });

  it('comes back from a concrete segment that leads nowhere', () => {
    const tree = treeOf(['/a/b/c', '/a/{x}/d', '/{x}/b/{y}/e']);
    expect(tree.find('/a/b/c')).toEqual({ value: '/a/b/c', params: {} });
    expect(tree.find('/a/b/d')).toEqual({ value: '/a/{x}/d', params: { x: 'b' } });
    expect(tree.find('/a/b/z/e')).toEqual({ value: '/{x}/b/{y}/e', params: { x: 'a', y: 'z' } });
    expect(tree.find('/a/b')).toBeUndefined();
  });

  it('leaves a path with an encoded character to the decoding router', () => {
    expect(treeOf(['/a/{x}']).find('/a/b%20c')).toBeUndefined();
  });
});
