import { linkTo } from '../app/place.ts';
import { count } from '../design/figures.ts';
import { Badge } from '../design/pieces.tsx';
import { type Column, Table } from '../design/table.tsx';
import type { EndpointSummary } from './queries.ts';

/** The endpoints, those with failed deliveries first. */
export function FailedDeliveries({ endpoints }: { endpoints: readonly EndpointSummary[] }) {
  const failing = [...endpoints].sort((one, other) => failedOf(other) - failedOf(one));
  return (
    <Table label="Webhook endpoints" columns={COLUMNS} rows={failing} empty="There is no endpoint yet." />
  );
}

const COLUMNS: ReadonlyArray<Column<EndpointSummary>> = [
  { title: 'Endpoint', cell: (endpoint) => <a href={linkTo(...placeOf(endpoint))}>{endpoint.url}</a> },
  { title: 'State', isFit: true, cell: (endpoint) => <State endpoint={endpoint} /> },
];

function placeOf(endpoint: EndpointSummary): [string[], { status?: string }] {
  return [['webhooks', endpoint.id], failedOf(endpoint) > 0 ? { status: 'failed' } : {}];
}

function State({ endpoint }: { endpoint: EndpointSummary }) {
  const failed = failedOf(endpoint);
  if (failed > 0) return <Badge tone="bad">{count(failed)} failed</Badge>;
  if (endpoint.status === 'disabled') return <Badge tone="bad">Disabled</Badge>;
  const pending = endpoint.pending?.totalCount ?? 0;
  return pending > 0 ? <Badge tone="warn">{count(pending)} pending</Badge> : <Badge tone="good">OK</Badge>;
}

function failedOf({ failed }: EndpointSummary): number {
  return failed?.totalCount ?? 0;
}
