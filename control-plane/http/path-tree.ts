/** Templates of paths, each with its value. */
export interface PathTree<Value> {
  /** Matches no path with an encoded character: the decoding router may match it. */
  find(path: string): FoundPath<Value> | undefined;
}

export interface FoundPath<Value> {
  value: Value;
  /** As they are in the path. */
  params: Record<string, string>;
}

interface Branch<Value> {
  concrete: Map<string, Branch<Value>>;
  /** Matches any segment except an empty one. */
  parameter: Branch<Value> | undefined;
  /** The template that ends here, with the names of its parameters in their order. */
  end: { value: Value; names: string[] } | undefined;
}

/**
 * By segments: one map read each, where a list of patterns takes as many tries as there are patterns. Where a
 * concrete segment and a parameter both match, the concrete one wins.
 */
export function createPathTree<Value>(
  entries: Iterable<readonly [template: string, value: Value]>,
): PathTree<Value> {
  const root = newBranch<Value>();
  for (const [template, value] of entries) grow(root, template, value);

  return {
    find(path) {
      if (path.includes('%')) return undefined;
      const segments = path.split('/');
      const values: string[] = [];
      const end = climb(root, segments, 0, values);
      return end && { value: end.value, params: paramsOf(end.names, values) };
    },
  };
}

function newBranch<Value>(): Branch<Value> {
  return { concrete: new Map(), parameter: undefined, end: undefined };
}

function grow<Value>(root: Branch<Value>, template: string, value: Value): void {
  const names: string[] = [];
  let branch = root;
  for (const segment of template.split('/')) {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name !== undefined) names.push(name);
    branch = name === undefined ? concreteBranch(branch, segment) : parameterBranch(branch);
  }
  branch.end = { value, names };
}

function concreteBranch<Value>({ concrete }: Branch<Value>, segment: string): Branch<Value> {
  const branch = concrete.get(segment) ?? newBranch<Value>();
  concrete.set(segment, branch);
  return branch;
}

function parameterBranch<Value>(branch: Branch<Value>): Branch<Value> {
  branch.parameter ??= newBranch();
  return branch.parameter;
}

/** Backtracking drops the parameters of a dead end. The depth is bounded by the longest template. */
function climb<Value>(
  branch: Branch<Value>,
  segments: string[],
  at: number,
  values: string[],
): Branch<Value>['end'] {
  const segment = segments[at];
  if (segment === undefined) return branch.end;
  const concrete = branch.concrete.get(segment);
  const end = concrete && climb(concrete, segments, at + 1, values);
  if (end || !branch.parameter || segment === '') return end;
  values.push(segment);
  const below = climb(branch.parameter, segments, at + 1, values);
  if (!below) values.pop();
  return below;
}

function paramsOf(names: string[], values: string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (let at = 0; at < names.length; at += 1) params[names[at] as string] = values[at] as string;
  return params;
}
