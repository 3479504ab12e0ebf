import { useState } from 'preact/hooks';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed, Responded } from '../../api/wire.ts';
import { changeQuery, usePlace } from '../../app/place.ts';
import { Chart } from '../../design/chart.tsx';
import { Choice, Field } from '../../design/fields.tsx';
import { amount } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Notice } from '../../design/pieces.tsx';
import { betweenDays, daysOf, lastDays, monthBefore, type Span } from '../../design/ranges.ts';
import { Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import type { Customer } from './shapes.ts';
import { UsageByProperty } from './usage-by-property.tsx';

type Counter = Listed<'usage.list'>;
type Report = Responded<'usage.breakdown'>;

interface UsageOfMeterProps {
  customer: Customer;
  counter: Counter;
}

const RANGES = [
  ['period', 'Current period'],
  ['last-month', 'Last month (UTC)'],
  ['30-days', 'Last 30 days'],
  ['90-days', 'Last 90 days'],
  ['days', 'From … to …'],
] as const;
type Range = (typeof RANGES)[number][0];

/** One meter of one customer: by day, with the bounds of the billing period, and by a property of events. */
export function UsageOfMeter({ customer, counter }: UsageOfMeterProps) {
  const { range: asked, first = '', last = '', group = '' } = usePlace().query;
  const [nowMs] = useState(Date.now);
  const range = RANGES.find(([one]) => one === asked)?.[0] ?? 'period';
  const span = spanOf(range, { counter, nowMs, first, last });
  const series = useOperation<'usage.breakdown'>(
    span &&
      apiPath(['usage', customer.id, counter.meterId, 'breakdown'], { dimension: '$day', ...span, ...ALL }),
  );
  return (
    <>
      <Card title={`${counter.meterId} by day`}>
        <div class="fields">
          <Choice
            label="Time"
            value={range}
            options={RANGES}
            onChoose={(chosen) => changeQuery({ range: chosen })}
          />
          {range === 'days' ? (
            <>
              <Field
                label="First day"
                type="date"
                value={first}
                onInput={(day) => changeQuery({ first: day })}
              />
              <Field
                label="Last day"
                type="date"
                value={last}
                onInput={(day) => changeQuery({ last: day })}
              />
            </>
          ) : null}
        </div>
        {span ? (
          <Loaded read={series} lines={8}>
            {(report) => <ByDay report={report} span={span} counter={counter} />}
          </Loaded>
        ) : (
          <Notice>Choose a first day and a last day that is not before it.</Notice>
        )}
      </Card>
      {span ? <UsageByProperty customer={customer} counter={counter} span={span} group={group} /> : null}
    </>
  );
}

/** As many entries as one response has; the chart shows no more than some hundred. */
const ALL = { limit: 1000, consistency: 'eventual' };

interface Chosen {
  counter: Counter;
  nowMs: number;
  first: string;
  last: string;
}

function spanOf(range: Range, { counter, nowMs, first, last }: Chosen): Span | undefined {
  if (range === 'last-month') return monthBefore(1, nowMs);
  if (range === '30-days') return lastDays(30, nowMs);
  if (range === '90-days') return lastDays(90, nowMs);
  if (range === 'days') return betweenDays(first, last);
  return { from: counter.periodStart, to: counter.periodEnd };
}

function ByDay({ report, span, counter }: { report: Report; span: Span; counter: Counter }) {
  const { total, unit = '', asOf, breakdown } = report;
  const byDay = new Map(breakdown.map((entry) => [Date.parse(entry.value), entry.total]));
  const days = daysOf(span);
  const values = days.map((day) => Number(byDay.get(day) ?? 0));
  const rows = days.filter((day) => byDay.has(day));
  const label = `${counter.meterId} by day, ${amount(total)} ${unit} in all`;
  return (
    <>
      <p>
        <strong class="number">
          {amount(total)} {unit}
        </strong>{' '}
        <span class="muted">
          from <Time at={span.from} isDay /> until <Time at={span.to} isDay />, counted as of{' '}
          <Time at={asOf} />. Dashed lines: the billing period.
        </span>
      </p>
      <Chart
        label={label}
        timesMs={days}
        series={[{ name: counter.meterId, values }]}
        boundsMs={[Date.parse(counter.periodStart), Date.parse(counter.periodEnd)]}
      />
      <details>
        <summary>Show as a table</summary>
        <Table
          label={label}
          rows={rows}
          empty="There is no usage in this time."
          columns={[
            { title: 'Day (UTC)', cell: (day) => new Date(day).toISOString().slice(0, 10) },
            {
              title: unit === '' ? 'Total' : `Total (${unit})`,
              isEnd: true,
              cell: (day) => amount(byDay.get(day) ?? '0'),
            },
          ]}
        />
      </details>
    </>
  );
}
