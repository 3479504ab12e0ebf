import { askToChange } from '../../api/change.tsx';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import { linkTo } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Facts, Notice } from '../../design/pieces.tsx';
import { Time } from '../../design/times.tsx';
import { StatusBadge } from '../status-badge.tsx';
import { DeliveriesCard } from './deliveries-card.tsx';
import { ReplayCard } from './replay-card.tsx';

type Endpoint = Responded<'webhookEndpoints.retrieve'>;

const WHY = {
  gone: 'The endpoint responded with 410, so it was disabled. Nothing is sent.',
  failing: 'All attempts of 5 days failed, so the endpoint was disabled. Nothing is sent.',
};

export function EndpointScreen({ endpointId }: { endpointId: string }) {
  const read = useOperation<'webhookEndpoints.retrieve'>(apiPath(['webhooks', 'endpoints', endpointId]));
  const endpoint = read.data;
  return (
    <Screen
      title={endpoint?.url ?? 'Endpoint'}
      above={{ text: 'Webhooks', link: linkTo(['webhooks']) }}
      badges={endpoint ? <StatusBadge status={endpoint.status} /> : null}
      actions={endpoint ? <Actions endpoint={endpoint} etag={read.etag} /> : null}
    >
      {endpoint?.disabledReason ? <Notice tone="warn">{WHY[endpoint.disabledReason]}</Notice> : null}
      <div class="columns-main">
        <DeliveriesCard endpointId={endpointId} />
        <div class="stack">
          <Card title="Endpoint">
            <Loaded read={read}>{(one) => <Details endpoint={one} />}</Loaded>
          </Card>
          <ReplayCard endpointId={endpointId} />
        </div>
      </div>
    </Screen>
  );
}

function Details({ endpoint: { id, events, createdAt } }: { endpoint: Endpoint }) {
  return (
    <Facts
      facts={[
        ['Id', <code>{id}</code>],
        ['Event types', events.includes('*') ? 'All' : events.join(', ')],
        ['Created', <Time at={createdAt} />],
      ]}
    />
  );
}

function Actions({ endpoint, etag }: { endpoint: Endpoint; etag: string | undefined }) {
  const { id, url, status } = endpoint;
  const isEnabled = status === 'enabled';
  const path = ['webhooks', 'endpoints', id];
  const switchTo = isEnabled ? 'disabled' : 'enabled';
  const askToSwitch = () =>
    askToChange({
      title: isEnabled ? `Disable ${url}?` : `Enable ${url}?`,
      effect: isEnabled
        ? 'Nothing is sent any more. Deliveries are held until you replay them.'
        : 'Events are sent again from now on. Held deliveries stay held until you replay them.',
      verb: isEnabled ? 'Disable' : 'Enable',
      isDanger: isEnabled,
      request: {
        method: 'PATCH',
        path: apiPath(path),
        body: { status: switchTo },
        headers: etag === undefined ? {} : { 'If-Match': etag },
      },
      done: isEnabled ? 'The endpoint was disabled.' : 'The endpoint was enabled.',
    });
  const askToTest = () =>
    askToChange({
      title: `Send a test event to ${url}?`,
      effect: 'It is signed and delivered like any other. Its data name objects that do not exist.',
      verb: 'Send test event',
      request: { method: 'POST', path: apiPath([...path, 'test']), body: {} },
      done: 'The test event is on its way: it is the first delivery below.',
    });
  return (
    <>
      <button type="button" class="button" onClick={askToSwitch}>
        {isEnabled ? 'Disable' : 'Enable'}
      </button>
      <button type="button" class="button button-primary" disabled={!isEnabled} onClick={askToTest}>
        Send test event
      </button>
    </>
  );
}
