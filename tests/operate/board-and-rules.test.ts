import { describe, expect, it } from 'vitest';
import { alertRules, boardExpressions, boardPanels } from './board-and-rules.ts';
import { metricsInCode, namesInSources, nodeMetrics } from './metrics-in-code.ts';

const metrics = await metricsInCode();
const byName = new Map(metrics.map((one) => [one.name, one]));
const ofNode = new Set(nodeMetrics());
const EXPRESSIONS = [...alertRules().map(({ expr }) => expr), ...boardExpressions()];

it('the list of metrics has each one that the sources name', () => {
  expect([...byName.keys()].sort()).toEqual([...new Set(namesInSources())].sort());
});

describe('the board and the alert rules', () => {
  it.each(EXPRESSIONS)('use metrics and labels that exist: %s', (expr) => {
    const found = selectorsIn(expr);
    expect(found.length).toBeGreaterThan(0);
    const known = found.flatMap(({ name }) => labelsOf(name));
    for (const { name, labels } of found) {
      expect([...labelsOf(name)], name).toEqual(expect.arrayContaining(labels));
    }
    expect(known).toEqual(expect.arrayContaining(groupedBy(expr)));
  });

  it('show each metric at least once', () => {
    const shown = new Set(EXPRESSIONS.flatMap(selectorsIn).map(({ name }) => familyOf(name)));
    const left = [...byName.keys()].filter((name) => !shown.has(name));
    // Where loading is, in bytes or records: a number for a person who compares it with the log.
    expect(left).toEqual(['metergate_load_position']);
  });

  it('have no two alerts of one name, and say of each how severe it is', () => {
    const names = alertRules().map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    const severities = new Set(alertRules().map(({ labels }) => labels.severity));
    expect([...severities].sort()).toEqual(['critical', 'warning']);
  });

  it('put no panel over another', () => {
    const panels = boardPanels();
    const overlapping = panels.flatMap((one, at) =>
      panels.slice(at + 1).filter((other) => overlap(one.gridPos, other.gridPos)),
    );
    expect(overlapping.map(({ title }) => title)).toEqual([]);
  });
});

/** Red when the suffix of a histogram is taken off a counter: it would be a name that nothing has. */
it('a metric that does not exist is found out', () => {
  expect(labelsOf('metergate_usage_events_created_total_sum')).toEqual([]);
  expect(selectorsIn('rate(metergate_gone_total{code="x"}[5m])')).toEqual([
    { name: 'metergate_gone_total', labels: ['code'] },
  ]);
});

interface Selector {
  name: string;
  labels: string[];
}

function selectorsIn(expr: string): Selector[] {
  return [...expr.matchAll(/\b(metergate_\w+|up)\b(?:\{([^}]*)\})?/g)].map(
    ([, name = '', matchers = '']) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    }),
  );
}

function groupedBy(expr: string): string[] {
  return [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/,\s*/));
}

/** The metric that a sample belongs to: a histogram has three names. */
function familyOf(name: string): string {
  const family = name.replace(/_(bucket|sum|count)$/, '');
  return byName.get(family)?.type === 'histogram' ? family : name;
}

/** Empty for one that does not exist. */
function labelsOf(name: string): string[] {
  if (name === 'up' || ofNode.has(name)) return ['job', 'instance', 'role'];
  return byName.get(familyOf(name))?.labels ?? [];
}

function overlap(one: Box, other: Box): boolean {
  const apart = (a: number, aSize: number, b: number, bSize: number) => a + aSize <= b || b + bSize <= a;
  return !apart(one.x, one.w, other.x, other.w) && !apart(one.y, one.h, other.y, other.h);
}

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}
