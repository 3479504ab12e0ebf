import { useState } from 'preact/hooks';
import { useQuery } from '../../api/graphql.ts';
import { linkTo } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { count } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Code, CopyButton, Notice } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { type EndpointSummary, WEBHOOK_ENDPOINTS } from '../queries.ts';
import { AddEndpointDialog, EMPTY_DRAFT } from './add-endpoint-dialog.tsx';
import { AllDeliveriesCard } from './all-deliveries-card.tsx';
import { EndpointStatus, FailureOf } from './endpoint-status.tsx';
import { type EndpointState, useFailing } from './failing.ts';
import { whyDisabled } from './switch-endpoint.tsx';

const EVERY_MS = 15_000;

export function EndpointsScreen() {
  const read = useQuery(WEBHOOK_ENDPOINTS, {}, { everyMs: EVERY_MS });
  const failing = useFailing();
  const endpoints = (read.data?.webhookEndpoints ?? []).map((one) => ({
    ...one,
    failing: failing?.get(one.id),
  }));
  const [isAdding, setAdding] = useState(false);
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [secret, setSecret] = useState<string>();
  return (
    <Screen
      title="Webhooks"
      actions={
        <button type="button" class="button button-primary" onClick={() => setAdding(true)}>
          Add endpoint
        </button>
      }
    >
      <Card title="Endpoints">
        <Loaded read={read}>
          {() => (
            <Table
              label="Webhook endpoints"
              columns={COLUMNS}
              rows={endpoints}
              empty="There is no endpoint yet. Add one to receive events."
            />
          )}
        </Loaded>
      </Card>
      <AllDeliveriesCard endpoints={new Map(endpoints.map((one) => [one.id, one]))} />
      {isAdding ? (
        <AddEndpointDialog
          draft={draft}
          onDraft={setDraft}
          onClose={() => setAdding(false)}
          onAdded={(added) => {
            setDraft(EMPTY_DRAFT);
            setSecret(added.secret);
          }}
        />
      ) : null}
      {secret === undefined ? null : <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </Screen>
  );
}

type EndpointRow = EndpointSummary & EndpointState;

const COLUMNS: ReadonlyArray<Column<EndpointRow>> = [
  { title: 'URL', cell: ({ id, url }) => <a href={linkTo(['webhooks', id])}>{url}</a> },
  { title: 'Status', cell: (endpoint) => <Status endpoint={endpoint} /> },
  {
    title: 'Waiting to retry',
    isEnd: true,
    cell: ({ id, retrying }) => <Total id={id} of={retrying} status="retrying" />,
  },
  {
    title: 'Not delivered',
    isEnd: true,
    cell: ({ id, undelivered }) => <Total id={id} of={undelivered} status="undelivered" />,
  },
  {
    title: 'Events',
    cell: ({ events }) => (events.includes('*') ? 'All types' : events.join(', ')),
  },
  { title: 'Created', isFit: true, cell: ({ createdAt }) => <Time at={createdAt} isDay /> },
];

function Status({ endpoint }: { endpoint: EndpointRow }) {
  const { status, failing } = endpoint;
  return (
    <>
      <EndpointStatus endpoint={endpoint} />
      <div class="small muted">
        {failing ? <FailureOf failing={failing} /> : status === 'disabled' ? whyDisabled(endpoint) : null}
      </div>
    </>
  );
}

interface TotalProps {
  id: string;
  of: EndpointSummary['retrying'];
  status: string;
}

function Total({ id, of, status }: TotalProps) {
  const number = of?.totalCount ?? 0;
  if (number === 0) return <span>0</span>;
  return <a href={linkTo(['webhooks', id], { status })}>{count(number)}</a>;
}

function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog title="The signing secret" onClose={onClose}>
      <Notice tone="warn">It is shown this once. Receivers verify deliveries with it.</Notice>
      <Code text={secret} />
      <div class="row row-end">
        <CopyButton text={secret} />
        <button type="button" class="button button-primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
