import { useState } from 'preact/hooks';
import { askToChange } from '../../api/change.tsx';
import { Decimal, exactBody, WrittenJson } from '../../api/exact-body.ts';
import { apiPath, useOperation } from '../../api/rest.ts';
import { Form } from '../../design/fields.tsx';
import { words } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Notice } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { DifferenceTable } from './difference-table.tsx';
import { compared } from './entitlement-drafts.ts';
import { jsonFault } from './json-fault.ts';
import { priceTexts, writtenPrices } from './price-differences.ts';
import { periodText, priceLines } from './price-text.ts';
import type { Plan, Price } from './shapes.ts';
import { type Subscribers, SubscribersTouched } from './subscribers.tsx';

interface PricesCardProps {
  plan: Plan;
  subscribers: Subscribers | undefined;
}

export function PricesCard({ plan, subscribers }: PricesCardProps) {
  const [isEdited, setEdited] = useState(false);
  const read = useOperation<'plans.retrievePrices'>(apiPath(['plans', plan.id, 'prices']));
  const edit = (
    <button type="button" class="button" disabled={!read.data} onClick={() => setEdited(true)}>
      Edit
    </button>
  );
  return (
    <Card title="Prices" actions={isEdited ? null : edit}>
      <Loaded read={read}>
        {({ prices }) =>
          isEdited ? (
            <PricesForm
              plan={plan}
              prices={prices}
              etag={read.etag}
              subscribers={subscribers}
              onClose={() => setEdited(false)}
            />
          ) : (
            <Table label="Prices" columns={COLUMNS} rows={prices} empty="The plan costs nothing." />
          )
        }
      </Loaded>
    </Card>
  );
}

const COLUMNS: ReadonlyArray<Column<Price>> = [
  { title: 'Price', cell: ({ key }) => <code>{key}</code> },
  { title: 'Model', cell: ({ model }) => words(model) },
  {
    title: 'Costs',
    cell: (price) => priceLines(price).map((line) => <div key={line}>{line}</div>),
  },
  { title: 'Period', cell: periodText },
];

interface PricesFormProps extends PricesCardProps {
  prices: readonly Price[];
  etag: string | undefined;
  onClose: () => void;
}

/** As JSON: seven models with tiers, bounds and rates by property need no form to be clear. */
function PricesForm({ plan, prices, etag, subscribers, onClose }: PricesFormProps) {
  const [text, setText] = useState(() => exactBody({ prices: prices.map((one) => withNumbers(one)) }, 2));
  const [fault, setFault] = useState<string>();
  const ask = () => {
    const read = written(text);
    setFault(read.fault);
    if (read.fault !== undefined) return;
    const changed = compared(priceTexts(prices), priceTexts(read.prices));
    if (changed.length === 0) return setFault('Nothing is different yet.');
    askToChange({
      title: `Replace the prices of ${plan.name}?`,
      effect: (
        <>
          <DifferenceTable rows={changed} />
          <p>
            What was used before the change keeps its price. A flat price that a running period was charged
            stays until its end.
          </p>
          <SubscribersTouched subscribers={subscribers} />
        </>
      ),
      verb: 'Replace prices',
      request: {
        method: 'PUT',
        path: apiPath(['plans', plan.id, 'prices']),
        body: read.body,
        headers: etag === undefined ? {} : { 'If-Match': etag },
      },
      done: `${plan.name} has new prices.`,
      onDone: onClose,
    });
  };
  return (
    <Form onSubmit={ask}>
      <div class="field">
        <textarea
          class="code"
          aria-label={`Prices of ${plan.name} as JSON`}
          rows={Math.min(24, text.split('\n').length + 1)}
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      {fault === undefined ? null : <Notice tone="bad">{fault}</Notice>}
      <p class="small muted">
        The <a href="/docs#/plans/plans.replacePrices">API reference</a> lists the models and their fields.
      </p>
      <div class="row row-end">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button button-primary">
          Review
        </button>
      </div>
    </Form>
  );
}

type Written = { fault: string } | { fault?: undefined; body: WrittenJson; prices: unknown[] };

function written(text: string): Written {
  try {
    const body = new WrittenJson(text);
    const prices = writtenPrices(text);
    return prices ? { body, prices } : { fault: 'Write the prices as { "prices": [ … ] }.' };
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: jsonFault(text, error) };
    throw error;
  }
}

/** Decimals are text in what was read, and numbers in what is sent. */
function withNumbers(value: unknown, name = '', isOfAmounts = false): unknown {
  if (typeof value === 'string') return isOfAmounts || DECIMALS.has(name) ? new Decimal(value) : value;
  if (Array.isArray(value)) return value.map((one) => withNumbers(one));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([key, one]) => [key, withNumbers(one, key, name === 'amounts')]));
}

const DECIMALS = new Set(
  'amount unitAmount flatAmount included minimum maximum size rate fixed min max upTo'.split(' '),
);
