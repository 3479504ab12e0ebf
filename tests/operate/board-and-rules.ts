import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface AlertRule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string };
}

export const RULES_FILE = 'infra/deploy/alerts.yml';

export function alertRules(): AlertRule[] {
  const { groups } = parse(readFileSync(RULES_FILE, 'utf8')) as { groups: Array<{ rules: AlertRule[] }> };
  return groups.flatMap(({ rules }) => rules);
}

interface Panel {
  title: string;
  type: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: Array<{ expr: string }>;
}

export function boardPanels(): Panel[] {
  return (JSON.parse(readFileSync('infra/deploy/grafana-board.json', 'utf8')) as { panels: Panel[] }).panels;
}

/** As Prometheus reads them: Grafana's variables have a value. */
export function boardExpressions(): string[] {
  const expressions = boardPanels().flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return expressions.map((expr) =>
    expr.replaceAll('$__rate_interval', '5m').replaceAll('"$instance"', '".*"'),
  );
}
