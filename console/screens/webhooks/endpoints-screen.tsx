import { useState } from 'preact/hooks';
import { askToChange } from '../../api/change.tsx';
import { useQuery } from '../../api/graphql.ts';
import { apiPath } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import { linkTo } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { Dialog, FormDialog } from '../../design/dialog.tsx';
import { Field } from '../../design/fields.tsx';
import { count } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Code, CopyButton, Notice } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { type EndpointSummary, WEBHOOK_ENDPOINTS } from '../queries.ts';
import { StatusBadge } from '../status-badge.tsx';
import { AllDeliveriesCard } from './all-deliveries-card.tsx';

export function EndpointsScreen() {
  const read = useQuery(WEBHOOK_ENDPOINTS, {});
  const [isAdding, setAdding] = useState(false);
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
          {({ webhookEndpoints }) => (
            <Table
              label="Webhook endpoints"
              columns={COLUMNS}
              rows={webhookEndpoints ?? []}
              empty="There is no endpoint yet. Add one to receive events."
            />
          )}
        </Loaded>
      </Card>
      <AllDeliveriesCard urls={urlsOf(read.data?.webhookEndpoints ?? [])} />
      {isAdding ? <AddDialog onClose={() => setAdding(false)} onSecret={setSecret} /> : null}
      {secret === undefined ? null : <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </Screen>
  );
}

const COLUMNS: ReadonlyArray<Column<EndpointSummary>> = [
  { title: 'URL', cell: ({ id, url }) => <a href={linkTo(['webhooks', id])}>{url}</a> },
  { title: 'Status', isFit: true, cell: ({ status }) => <StatusBadge status={status} /> },
  { title: 'Waiting', isEnd: true, cell: ({ pending }) => count(pending?.totalCount ?? 0) },
  {
    title: 'Failed',
    isEnd: true,
    cell: ({ id, failed }) => <Failed id={id} number={failed?.totalCount ?? 0} />,
  },
  {
    title: 'Events',
    cell: ({ events }) => (events.includes('*') ? 'All types' : events.join(', ')),
  },
  { title: 'Created', isFit: true, cell: ({ createdAt }) => <Time at={createdAt} isDay /> },
];

function Failed({ id, number }: { id: string; number: number }) {
  if (number === 0) return <span>0</span>;
  return <a href={linkTo(['webhooks', id], { status: 'failed' })}>{count(number)}</a>;
}

function urlsOf(endpoints: readonly EndpointSummary[]): Map<string, string> {
  return new Map(endpoints.map(({ id, url }) => [id, url]));
}

interface AddDialogProps {
  onClose: () => void;
  onSecret: (secret: string) => void;
}

function AddDialog({ onClose, onSecret }: AddDialogProps) {
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState('*');
  const types = events.split(/[\s,]+/).filter(Boolean);
  const ask = () => {
    onClose();
    askToChange({
      title: 'Add this endpoint?',
      effect: (
        <p>
          {url} gets {types.includes('*') ? 'every event' : types.join(', ')} from now on.
        </p>
      ),
      verb: 'Add endpoint',
      request: { method: 'POST', path: apiPath(['webhooks', 'endpoints']), body: { url, events: types } },
      done: 'The endpoint was added.',
      onDone: (body) => onSecret((body as Responded<'createWebhookEndpoint'>).secret),
    });
  };
  return (
    <FormDialog title="Add an endpoint" onClose={onClose} onContinue={ask}>
      <Field label="URL" type="url" value={url} onInput={setUrl} isRequired placeholder="https://…" />
      <Field
        label="Event types"
        value={events}
        onInput={setEvents}
        isRequired
        hint="Separated by commas; * is all types."
      />
    </FormDialog>
  );
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
