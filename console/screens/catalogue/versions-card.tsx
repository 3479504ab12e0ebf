import { useState } from 'preact/hooks';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import { Choice } from '../../design/fields.tsx';
import { Failure, Skeleton } from '../../design/loaded.tsx';
import { Card, Empty } from '../../design/pieces.tsx';
import { DifferenceTable } from './difference-table.tsx';
import { compared, type Difference } from './entitlement-drafts.ts';
import { priceTexts } from './price-differences.ts';
import { givenText, type Plan } from './shapes.ts';

/** What one version of a plan has that another has not. */
export function VersionsCard({ plan: { id, version } }: { plan: Plan }) {
  const [before, setBefore] = useState(String(Math.max(1, version - 1)));
  const [after, setAfter] = useState(String(version));
  if (version === 1) {
    return (
      <Card title="Versions">
        <Empty>There is one version. The next change of a published plan makes another.</Empty>
      </Card>
    );
  }
  const versions = Array.from({ length: version }, (_, at) => String(version - at));
  const options = versions.map((one) => [one, `Version ${one}`] as const);
  return (
    <Card title="Versions">
      <div class="fields">
        <Choice label="Compare" value={before} options={options} onChoose={setBefore} />
        <Choice label="With" value={after} options={options} onChoose={setAfter} />
      </div>
      <Compared planId={id} before={before} after={after} />
    </Card>
  );
}

interface ComparedProps {
  planId: string;
  before: string;
  after: string;
}

function Compared({ planId, before, after }: ComparedProps) {
  const reads = [useVersion(planId, before), useVersion(planId, after)];
  const error = reads.find((read) => read.error)?.error;
  const [old, next] = reads.map(({ lines }) => lines);
  if (error) return <Failure error={error} />;
  if (!old || !next) return <Skeleton lines={3} />;
  const rows: Difference[] = compared(old, next);
  return <DifferenceTable rows={rows} />;
}

/** Everything of a version as text, by name; `lines` is undefined until it is read. */
function useVersion(planId: string, version: string) {
  const path = (part: string) => apiPath(['plans', planId, part], { version });
  const entitlements = useOperation<'plans.retrieveEntitlements'>(path('entitlements'));
  const prices = useOperation<'plans.retrievePrices'>(path('prices'));
  const [given, costs] = [entitlements.data, prices.data];
  return {
    error: entitlements.error ?? prices.error,
    lines: given && costs ? linesOf(given, costs) : undefined,
  };
}

type Entitlements = Responded<'plans.retrieveEntitlements'>;
type Prices = Responded<'plans.retrievePrices'>;

function linesOf({ entitlements }: Entitlements, { prices }: Prices): Map<string, string> {
  const given = entitlements.map((one) => [one.featureKey, givenText(one)] as const);
  return new Map([...given, ...priceTexts(prices)]);
}
