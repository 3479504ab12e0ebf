import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { testFolder } from '../support/test-folder.ts';
import { alertRules, boardExpressions, RULES_FILE } from './board-and-rules.ts';

/** One sample a minute, for as long as the slowest alert needs. */
const MINUTES = 100;
/** Longer than any of the rates but one of an hour, which sees a growth of this long. */
const RATE_MINUTES = 20;
const [ALWAYS_0, ALWAYS_1] = [0, 1].map(constant);

/** By alert: series under which it fires, and under which it does not. */
const CASES: Record<string, { fires: Series; quiet: Series }> = {
  MetergateDown: {
    fires: { 'up{job="metergate",instance="a"}': ALWAYS_0 },
    quiet: { 'up{job="metergate",instance="a"}': ALWAYS_1 },
  },
  MetergateUsageUnavailable: rising(
    'metergate_usage_refusals_total',
    'code="overloaded"',
    'code="rate_limited"',
  ),
  MetergateControlPlaneUnreachable: rising(
    'metergate_forward_refusals_total',
    'code="unavailable"',
    'code="payload_too_large"',
  ),
  MetergateControlPlaneErrors: {
    fires: requests({ failed: 2, all: 100 }),
    quiet: requests({ failed: 0.5, all: 100 }),
  },
  MetergateNotReady: rising(
    'metergate_http_request_seconds_count',
    'operation="service.readiness",status="503"',
    'operation="service.readiness",status="200"',
  ),
  MetergateFlushSlow: {
    fires: { [bucket('0.2')]: growing(10), [bucket('1')]: growing(20), [bucket('+Inf')]: growing(20) },
    quiet: { [bucket('0.2')]: growing(20), [bucket('1')]: growing(20), [bucket('+Inf')]: growing(20) },
  },
  MetergateCountingLate: gauge('metergate_uncounted_seconds', { fires: 61, quiet: 60 }),
  MetergateLoadFailing: rising('metergate_load_failures_total', 'code="frame_damaged"', 'code="lease_lost"'),
  MetergateLinesQuarantined: counter('metergate_load_quarantined_lines_total'),
  MetergateForeignRecords: counter('metergate_load_foreign_records_total'),
  MetergateEventsTwice: rising('metergate_load_doubled_events_total', 'role="control"', 'role="aggregator"'),
  MetergateSettlementLate: gauge('metergate_settle_waiting_ranges', { fires: 101, quiet: 100 }),
  MetergateLogNearRetention: {
    fires: {
      metergate_log_oldest_unloaded_seconds: constant(51),
      metergate_log_retention_seconds: constant(100),
    },
    quiet: { metergate_log_oldest_unloaded_seconds: constant(51), metergate_log_retention_seconds: ALWAYS_0 },
  },
  MetergateDeliveriesLate: gauge('metergate_webhook_oldest_due_seconds', { fires: 301, quiet: 300 }),
  MetergateFanOutLate: {
    fires: { metergate_webhook_untold_events: ALWAYS_1 },
    quiet: { metergate_webhook_untold_events: `0 1 0 1 0 ${'1 0 '.repeat(MINUTES / 2)}`.trim() },
  },
  MetergateDeliveriesFailing: {
    fires: attempts({ failed: 60, succeeded: 40 }),
    quiet: attempts({ failed: 40, succeeded: 60 }),
  },
  MetergateCircuitsOpen: gauge('metergate_webhook_circuits_open', { fires: 1, quiet: 0 }),
  MetergateSubscriptionClockLate: gauge('metergate_subscription_oldest_due_seconds', {
    fires: 301,
    quiet: 300,
  }),
  MetergateSubscriptionChangesFailing: counter('metergate_subscription_move_failures_total'),
  MetergateEntitlementEventsLate: gauge('metergate_entitlement_oldest_fanout_seconds', {
    fires: 901,
    quiet: 900,
  }),
  MetergateEntitlementEventsFailing: counter('metergate_entitlement_tellings_failed_total'),
  MetergateProcessorEventsDropped: counter('metergate_processor_events_given_up_total'),
};

describe('promtool', () => {
  it('accepts the alert rules and the scrape sample', () => {
    expect(promtool('check', 'rules', RULES_FILE)).toContain(`${alertRules().length} rules found`);
    promtool('check', 'config', '--syntax-only', 'infra/deploy/prometheus.yml');
  });

  it('accepts every expression of the board', () => {
    const rules = boardExpressions().map((expr, at) => ({ record: `board:${at}`, expr }));
    const file = written({ groups: [{ name: 'board', rules }] });
    expect(promtool('check', 'rules', file)).toContain(`${rules.length} rules found`);
  });

  it('sees each alert fire under its condition, and not without it', () => {
    expect(Object.keys(CASES)).toEqual(alertRules().map(({ alert }) => alert));
    const tests = Object.entries(CASES).flatMap(([alert, { fires, quiet }]) => [
      testOf(alert, fires, [{ labels: '{}', value: 1 }]),
      testOf(alert, quiet, []),
    ]);
    const file = written({ rule_files: [resolve(RULES_FILE)], evaluation_interval: '1m', tests });
    expect(promtool('test', 'rules', file)).toContain('SUCCESS');
  });
});

type Series = Record<string, string | undefined>;

function testOf(alert: string, series: Series, samples: object[]): object {
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: evaluatedAt(alert),
        exp_samples: samples,
      },
    ],
  };
}

/** When it has been pending for as long as it has to be. */
function evaluatedAt(alert: string): string {
  const [, count = '0', unit = 'm'] = /^(\d+)([mh])$/.exec(ruleOf(alert).for ?? '') ?? [];
  return `${Number(count) * (unit === 'h' ? 60 : 1) + RATE_MINUTES}m`;
}

function ruleOf(alert: string): { for?: string } {
  return alertRules().find((rule) => rule.alert === alert) ?? {};
}

function constant(value: number): string {
  return `${value}x${MINUTES}`;
}

function growing(perMinute: number): string {
  return `0+${perMinute}x${MINUTES}`;
}

function gauge(name: string, { fires, quiet }: { fires: number; quiet: number }) {
  return { fires: { [name]: constant(fires) }, quiet: { [name]: constant(quiet) } };
}

function counter(name: string) {
  return { fires: { [name]: growing(1) }, quiet: { [name]: constant(7) } };
}

/** A counter that grows in both cases, with labels that differ. */
function rising(name: string, bad: string, good: string) {
  return { fires: { [`${name}{${bad}}`]: growing(60) }, quiet: { [`${name}{${good}}`]: growing(60) } };
}

function requests({ failed, all }: { failed: number; all: number }): Series {
  const of = (status: string) => `metergate_http_request_seconds_count{operation="x",status="${status}"}`;
  return { [of('500')]: growing(failed), [of('200')]: growing(all - failed) };
}

function attempts(perMinute: Record<'failed' | 'succeeded', number>): Series {
  const entries = Object.entries(perMinute);
  return Object.fromEntries(
    entries.map(([outcome, count]) => [
      `metergate_webhook_attempts_total{outcome="${outcome}"}`,
      growing(count),
    ]),
  );
}

function bucket(le: string): string {
  return `metergate_log_append_seconds_bucket{le="${le}",instance="a"}`;
}

function written(content: object): string {
  const file = join(testFolder(), 'written.yml');
  writeFileSync(file, stringify(content));
  return file;
}

function promtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
  return stdout + stderr;
}
