import { csvOf, saveFile } from '../../api/csv.ts';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed, Responded } from '../../api/wire.ts';
import { changeQuery } from '../../app/place.ts';
import { QueryField } from '../../app/query-field.tsx';
import { amount, count } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Empty, Share } from '../../design/pieces.tsx';
import type { Span } from '../../design/ranges.ts';
import { type Column, Table } from '../../design/table.tsx';
import type { Customer } from './shapes.ts';

type Report = Responded<'usage.breakdown'>;
type Entry = Report['breakdown'][number];

interface UsageByPropertyProps {
  customer: Customer;
  counter: Listed<'usage.list'>;
  span: Span;
  /** The name of the property; '' before one is chosen. */
  group: string;
}

/** Events that show which properties there are. */
const SAMPLE = 50;

export function UsageByProperty({ customer, counter, span, group }: UsageByPropertyProps) {
  const path = ['usage', customer.id, counter.meterId];
  const sample = useOperation<'usage.events'>(apiPath([...path, 'events'], { ...span, limit: SAMPLE }));
  const offered = propertiesOf(sample.data?.data ?? []);
  const query = { dimension: group, ...span, limit: 1000, consistency: 'eventual' };
  const read = useOperation<'usage.breakdown'>(
    group === '' ? undefined : apiPath([...path, 'breakdown'], query),
  );
  return (
    <Card
      title={`${counter.meterId} by a property`}
      actions={
        <button
          type="button"
          class="button"
          disabled={read.data === undefined}
          onClick={() => read.data && saveReport(customer, read.data, span)}
        >
          Download CSV
        </button>
      }
    >
      <div class="fields">
        <QueryField name="group" label="Property" offered={offered} placeholder={offered[0] ?? 'region'} />
        <Offered properties={offered} chosen={group} />
      </div>
      {group === '' ? (
        <Empty>Choose a property, such as the region, to see its values.</Empty>
      ) : (
        <Loaded read={read}>
          {(report) => (
            <Table
              label={`${counter.meterId} by ${group}`}
              columns={columns(report, group)}
              rows={report.breakdown}
              empty="There is no usage in this time."
            />
          )}
        </Loaded>
      )}
    </Card>
  );
}

function Offered({ properties, chosen }: { properties: readonly string[]; chosen: string }) {
  return (
    <div class="row">
      {properties.map((property) => (
        <button
          key={property}
          type="button"
          class="button"
          aria-pressed={property === chosen}
          onClick={() => changeQuery({ group: property })}
        >
          {property}
        </button>
      ))}
    </div>
  );
}

function columns({ total, unit = '' }: Report, group: string): Array<Column<Entry>> {
  const whole = Number(total);
  return [
    { title: group, cell: ({ value }) => (value === '' ? <span class="muted">none</span> : value) },
    { title: unit === '' ? 'Total' : `Total (${unit})`, isEnd: true, cell: (entry) => amount(entry.total) },
    { title: 'Events', isEnd: true, cell: (entry) => count(entry.count) },
    { title: 'Credits', isEnd: true, cell: ({ creditCost }) => amount(creditCost) },
    {
      title: 'Share',
      cell: (entry) =>
        whole === 0 ? '–' : <Share share={Number(entry.total) / whole} of={entry.value || 'none'} isPart />,
    },
  ];
}

/** Each row says of which customer, meter and time it is: files are put together in spreadsheets. */
function saveReport(customer: Customer, { breakdown, other, meterId, dimension }: Report, span: Span): void {
  const place = [customer.id, customer.externalId ?? '', customer.name, meterId, span.from, span.to];
  const entries = [...breakdown, ...(other ? [{ value: '(other)', ...other }] : [])];
  const rows = entries.map(({ value, total, count, creditCost }) => [
    ...place,
    ...[value, total, count, creditCost],
  ]);
  const header = ['customer_id', 'external_id', 'customer', 'meter', 'from', 'to', dimension];
  const name = `usage-${customer.externalId ?? customer.id}-${meterId}-by-${dimension}`;
  const [from, to] = [span.from.slice(0, 10), span.to.slice(0, 10)];
  const content = csvOf([...header, 'total', 'events', 'credit_cost'], rows);
  saveFile(`${name}-${from}-${to}.csv`, 'text/csv', content);
}

function propertiesOf(events: ReadonlyArray<{ properties?: Record<string, unknown> }>): string[] {
  return [...new Set(events.flatMap(({ properties = {} }) => Object.keys(properties)))].sort();
}
