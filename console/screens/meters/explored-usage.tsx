import { Chart, Legend, type Series } from '../../design/chart.tsx';
import { amount, count, percent } from '../../design/figures.ts';
import { Badge } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { useCustomerNames } from '../customer-names.ts';
import { drawnOf, groupName, groupTitle, named, type Report } from './explored.ts';

interface ExploredProps {
  report: Report;
  /** The same of the time before, in all. */
  before: Report | undefined;
}

export function Explored({ report, before }: ExploredProps) {
  const { total, unit = '', asOf } = report;
  const names = useCustomerNames(report.data.flatMap(({ group }) => group.customerId ?? []));
  const { timesMs, series } = drawnOf(report, names);
  const compared = before ? [...series, beforeSeries(before, timesMs.length)] : series;
  const isSingle = compared.length === 1;
  const label = `${report.meterId} over time, ${amount(total)} ${unit} in all`;
  return (
    <>
      <div class="row">
        <strong class="number">
          {amount(total)} {unit}
        </strong>
        {before ? <Change now={Number(total)} before={Number(before.total)} /> : null}
        <span class="muted small">
          counted as of <Time at={asOf} />
        </span>
      </div>
      <Chart label={label} timesMs={timesMs} series={compared} isLine={!isSingle} />
      {isSingle ? null : <Legend series={compared} />}
      <details>
        <summary>Show as a table</summary>
        <Table
          label={label}
          columns={columnsOf(report, names)}
          rows={report.data.filter((entry) => entry.count > 0)}
          empty="There is no usage in this time."
        />
      </details>
    </>
  );
}

/** Put under the same times, since their lengths are the same. */
function beforeSeries(before: Report, length: number): Series {
  const [all] = drawnOf(before).series;
  const values = Array.from({ length }, (_, at) => all?.values[at] ?? null);
  return { name: 'the time before', values };
}

function Change({ now, before }: { now: number; before: number }) {
  if (before === 0) return <Badge>Nothing before</Badge>;
  const change = now / before - 1;
  return (
    <Badge tone={change < 0 ? 'warn' : 'good'}>
      {change < 0 ? '−' : '+'}
      {percent(Math.abs(change))}
    </Badge>
  );
}

type Entry = Report['data'][number];

function columnsOf(report: Report, names: ReadonlyMap<string, string>): Array<Column<Entry>> {
  const { groupBy, meterId, unit } = report;
  return [
    { title: 'From', isFit: true, cell: ({ from }) => <Time at={from} /> },
    ...(groupBy.length === 0
      ? []
      : [
          {
            title: groupTitle(groupBy),
            cell: ({ group }: Entry) => groupName(groupBy, named(group, names), meterId),
          },
        ]),
    { title: unit ? `Total (${unit})` : 'Total', isEnd: true, cell: ({ total }) => amount(total) },
    { title: 'Events', isEnd: true, cell: (entry) => count(entry.count) },
  ];
}
