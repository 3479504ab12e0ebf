import { linkTo } from '../app/place.ts';
import { count } from '../design/figures.ts';
import { Badge } from '../design/pieces.tsx';
import { type Column, Table } from '../design/table.tsx';
import type { EndpointSummary } from './queries.ts';
import { useFailing } from './webhooks/failing.ts';

type Endpoint = EndpointSummary & { isFailing: boolean };

/** The endpoints, those that fail now or have undelivered events first. */
export function FailedDeliveries({ endpoints }: { endpoints: readonly EndpointSummary[] }) {
  const failing = useFailing();
  const rows = endpoints
    .map((one) => ({ ...one, isFailing: failing?.has(one.id) ?? false }))
    .sort((one, other) => urgencyOf(other) - urgencyOf(one));
  return <Table label="Webhook endpoints" columns={COLUMNS} rows={rows} empty="There is no endpoint yet." />;
}

const COLUMNS: ReadonlyArray<Column<Endpoint>> = [
  { title: 'Endpoint', cell: (endpoint) => <a href={linkTo(...placeOf(endpoint))}>{endpoint.url}</a> },
  { title: 'State', isFit: true, cell: (endpoint) => <State endpoint={endpoint} /> },
];

function placeOf(endpoint: Endpoint): [string[], { status?: string }] {
  return [['webhooks', endpoint.id], undeliveredOf(endpoint) > 0 ? { status: 'undelivered' } : {}];
}

function State({ endpoint }: { endpoint: Endpoint }) {
  const { isFailing, status } = endpoint;
  const undelivered = undeliveredOf(endpoint);
  const isBad = isFailing || status === 'disabled';
  if (!isBad && undelivered === 0) return <Badge tone="good">OK</Badge>;
  const name = isFailing ? 'Failing' : status === 'disabled' ? 'Disabled' : '';
  const left = undelivered === 0 ? '' : `${count(undelivered)} not delivered`;
  return <Badge tone={isBad ? 'bad' : 'warn'}>{[name, left].filter(Boolean).join(', ')}</Badge>;
}

function undeliveredOf({ undelivered }: EndpointSummary): number {
  return undelivered?.totalCount ?? 0;
}

/** What fails now comes before whatever failed once. */
function urgencyOf(endpoint: Endpoint): number {
  return undeliveredOf(endpoint) + (endpoint.isFailing ? Number.MAX_SAFE_INTEGER / 2 : 0);
}
