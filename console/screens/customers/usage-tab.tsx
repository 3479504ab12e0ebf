import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed } from '../../api/wire.ts';
import { linkTo, type Place, usePlace } from '../../app/place.ts';
import { amount } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Badge, Card, Empty, Share } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { BudgetCard } from './budget-card.tsx';
import { DecisionTable } from './decision-table.tsx';
import { limitText, NO_ACCESS } from './decision-text.ts';
import { type DecisionsOfMeter, useMeteredDecisions } from './metered-decisions.ts';
import type { Customer } from './shapes.ts';
import { UsageOfMeter } from './usage-of-meter.tsx';

type Counter = Listed<'usage.list'>;

const COUNTERS_SHOWN = 100;

export function UsageTab({ customer }: { customer: Customer }) {
  const place = usePlace();
  const read = useOperation<'usage.list'>(
    apiPath(['usage', customer.id], { pageSize: COUNTERS_SHOWN, consistency: 'eventual' }),
  );
  const decisionsOf = useMeteredDecisions(customer);
  return (
    <Loaded read={read} lines={6}>
      {({ data }) => {
        const shown = data.find(({ meterId }) => meterId === place.query.meter) ?? mostUsed(data);
        const decided = shown && decisionsOf(shown.meterId);
        return (
          <>
            <Card title="Counters of the current period">
              <Table
                label="Counters"
                columns={columns(place, shown?.meterId, decisionsOf)}
                rows={data}
                empty="There is no meter yet."
              />
            </Card>
            {decided && decided.decisions.length > 0 ? (
              <Card title={`May they use ${shown.meterId}, and why`}>
                <DecisionTable customer={customer} {...decided} />
              </Card>
            ) : null}
            {shown ? (
              <>
                <UsageOfMeter key={shown.meterId} customer={customer} counter={shown} />
                <BudgetCard key={`budget ${shown.meterId}`} customer={customer} counter={shown} />
              </>
            ) : (
              <Empty>Nothing is metered yet.</Empty>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

function mostUsed(counters: readonly Counter[]): Counter | undefined {
  return counters.find(({ limit }) => limit !== undefined) ?? counters[0];
}

function columns(
  { path, query }: Place,
  shown: string | undefined,
  decisionsOf: DecisionsOfMeter,
): Array<Column<Counter>> {
  return [
    {
      title: 'Meter',
      cell: ({ meterId }) => (
        <a href={linkTo(path, { ...query, meter: meterId })} aria-current={meterId === shown}>
          {meterId}
        </a>
      ),
    },
    { title: 'Used', isEnd: true, cell: ({ current, unit }) => `${amount(current)} ${unit ?? ''}` },
    {
      title: 'Limit',
      isEnd: true,
      cell: ({ limit, meterId }) => <Limit text={limitText(limit, decisionsOf(meterId)?.decisions)} />,
    },
    { title: 'Share', cell: (counter) => <ShareOf counter={counter} /> },
    {
      title: 'Period',
      cell: ({ periodStart, periodEnd }) => (
        <>
          <Time at={periodStart} isDay /> – <Time at={periodEnd} isDay />
        </>
      ),
    },
  ];
}

function Limit({ text }: { text: string }) {
  return text === NO_ACCESS ? <Badge tone="bad">{text}</Badge> : <span>{text}</span>;
}

function ShareOf({ counter: { current, limit, meterId } }: { counter: Counter }) {
  if (limit === undefined || Number(limit) === 0) return <>–</>;
  return <Share share={Number(current) / Number(limit)} of={`Used of ${meterId}`} />;
}
