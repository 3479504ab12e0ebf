import { useState } from 'preact/hooks';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import { changeQuery, linkTo, usePlace } from '../../app/place.ts';
import { Choice } from '../../design/fields.tsx';
import { amount, money, words } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Empty, Figure } from '../../design/pieces.tsx';
import { monthBefore, type Span } from '../../design/ranges.ts';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { explanationOf, isEmptyLine } from './cost-lines.ts';
import type { Customer } from './shapes.ts';

type Cost = Responded<'cost.ofCustomer'>;
type Line = Cost['lines'][number];

const RANGES = [
  ['period', 'Current period'],
  ['month', 'This month (UTC)'],
  ['last-month', 'Last month (UTC)'],
] as const;
type Range = (typeof RANGES)[number][0];

export function CostTab({ customer }: { customer: Customer }) {
  const { range } = usePlace().query;
  const [nowMs] = useState(Date.now);
  const chosen = RANGES.find(([one]) => one === range)?.[0] ?? 'period';
  const read = useOperation<'cost.ofCustomer'>(
    apiPath(['customers', customer.id, 'cost'], { ...spanOf(chosen, nowMs), consistency: 'eventual' }),
  );
  return (
    <>
      <div class="fields">
        <Choice
          label="Time"
          value={chosen}
          options={RANGES}
          onChoose={(one) => changeQuery({ range: one })}
        />
      </div>
      <Loaded read={read} lines={6}>
        {(cost) => <CostView cost={cost} />}
      </Loaded>
    </>
  );
}

/** Nothing: each subscription in its own current period. */
function spanOf(range: Range, nowMs: number): Partial<Span> {
  if (range === 'period') return {};
  return monthBefore(range === 'month' ? 0 : 1, nowMs);
}

function CostView({ cost: { from, to, totals, lines, asOf } }: { cost: Cost }) {
  return (
    <>
      {totals.length === 0 ? <Empty>Nothing is charged in this time.</Empty> : null}
      <dl class="figures">
        {totals.map((total) => (
          <Figure
            key={total.currency}
            name={`Total in ${total.currency}`}
            value={money(total.amount, total.currency)}
            note="before taxes and discounts"
          />
        ))}
      </dl>
      <Card title="Line by line">
        <p class="muted small">
          <Time at={from} isDay /> – <Time at={to} isDay />, counted as of <Time at={asOf} />. No invoice:
          what began is charged as a whole.
        </p>
        <Table
          label="Lines of the cost"
          columns={COLUMNS}
          rows={lines.filter((line) => !isEmptyLine(line))}
          empty="Nothing was used or charged in this time."
        />
      </Card>
    </>
  );
}

const COLUMNS: ReadonlyArray<Column<Line>> = [
  { title: 'Price', cell: (line) => <PriceOf line={line} /> },
  {
    title: 'Time',
    cell: ({ from, to }) => (
      <>
        <Time at={from} isDay /> – <Time at={to} isDay />
      </>
    ),
  },
  {
    title: 'How it is charged',
    cell: (line) => explanationOf(line).map((text) => <div key={text}>{text}</div>),
  },
  { title: 'Quantity', isEnd: true, cell: ({ quantity }) => amount(quantity) },
  { title: 'Amount', isEnd: true, cell: (line) => money(line.amount, line.currency) },
];

function PriceOf({ line: { priceKey, planKey, addonKey, model, description } }: { line: Line }) {
  return (
    <>
      <code>{priceKey}</code> <span class="muted small">{words(model)}</span>
      <div class="small muted">
        {planKey === undefined ? (
          `add-on ${addonKey}`
        ) : (
          <a href={linkTo(['catalogue', planKey])}>plan {planKey}</a>
        )}
      </div>
      {description === undefined ? null : <div class="small muted">{description}</div>}
    </>
  );
}
