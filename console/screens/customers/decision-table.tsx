import { useState } from 'preact/hooks';
import { linkTo } from '../../app/place.ts';
import { amount } from '../../design/figures.ts';
import { Badge, Share } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { byUrgency, reasonOf, verdictOf } from './decision-text.ts';
import { OverrideDialog } from './override-dialog.tsx';
import { type Customer, type Decision, type Feature, valueText } from './shapes.ts';

interface DecisionTableProps {
  customer: Customer;
  features: readonly Feature[];
  decisions: readonly Decision[];
}

export function DecisionTable({ customer, features, decisions }: DecisionTableProps) {
  const [opened, setOpened] = useState<Feature>();
  const named = new Map(features.map((feature) => [feature.key, feature]));
  const columns: Array<Column<Decision>> = [
    {
      title: 'Feature',
      cell: ({ featureKey }) => <Name featureKey={featureKey} feature={named.get(featureKey)} />,
    },
    {
      title: 'May use it',
      isFit: true,
      cell: (decision) => <Verdict decision={decision} />,
    },
    { title: 'Why', cell: (decision) => <Why decision={decision} /> },
    { title: 'Used', cell: (decision) => <Used decision={decision} /> },
    {
      title: 'Actions',
      isUntitled: true,
      isEnd: true,
      isFit: true,
      cell: ({ featureKey }) => (
        <button type="button" class="button" onClick={() => setOpened(named.get(featureKey))}>
          Override
        </button>
      ),
    },
  ];
  return (
    <>
      <Table
        label="Entitlements"
        columns={columns}
        rows={byUrgency(decisions)}
        empty="There is no feature yet."
      />
      {opened ? (
        <OverrideDialog customer={customer} feature={opened} onClose={() => setOpened(undefined)} />
      ) : null}
    </>
  );
}

function Name({ featureKey, feature }: { featureKey: string; feature: Feature | undefined }) {
  return (
    <>
      {feature?.name ?? featureKey}
      <div>
        <code class="muted">{featureKey}</code>
      </div>
    </>
  );
}

function Verdict({ decision }: { decision: Decision }) {
  const { tone, text } = verdictOf(decision);
  return <Badge tone={tone}>{text}</Badge>;
}

/** The reason, its code, and where the value comes from. */
function Why({ decision }: { decision: Decision }) {
  const { reasonCode, contributions = [] } = decision;
  return (
    <>
      {reasonOf(decision)}
      <div class="small muted">
        <code>{reasonCode}</code>
      </div>
      {contributions.map(({ source, value, quantity }) => (
        <div key={source} class="small muted">
          <Source source={source} />: {valueText(value)}
          {quantity === undefined ? null : ` × ${quantity}`}
        </div>
      ))}
    </>
  );
}

function Source({ source }: { source: string }) {
  const [kind = '', key = ''] = source.split(/:(.*)/);
  return kind === 'plan' ? (
    <a href={linkTo(['catalogue', key])}>plan {key}</a>
  ) : (
    <span>{source.replace(':', ' ')}</span>
  );
}

function Used({ decision }: { decision: Decision }) {
  const { current, limit, resetsAt, featureKey } = decision;
  if (current === undefined) return <>–</>;
  if (limit === undefined) return <>{amount(current)}, no limit</>;
  const share = Number(limit) === 0 ? 1 : Number(current) / Number(limit);
  return (
    <>
      <span class="whole">
        {amount(current)} of {amount(limit)}
      </span>
      <Share share={share} of={`Used of ${featureKey}`} />
      {resetsAt === undefined ? null : (
        <div class="small muted">
          resets <Time at={resetsAt} isDay />
        </div>
      )}
    </>
  );
}
