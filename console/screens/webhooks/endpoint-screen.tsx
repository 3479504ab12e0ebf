import { askToChange } from '../../api/change.tsx';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import { linkTo } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Facts, Notice } from '../../design/pieces.tsx';
import { Time } from '../../design/times.tsx';
import { DeliveriesCard } from './deliveries-card.tsx';
import { EndpointStatus, FailureOf } from './endpoint-status.tsx';
import { useFailing } from './failing.ts';
import { ReplayCard } from './replay-card.tsx';
import { followAttempt } from './replay-delivery.ts';
import { askToSwitch, whyDisabled } from './switch-endpoint.tsx';

type Endpoint = Responded<'webhookEndpoints.retrieve'>;

export function EndpointScreen({ endpointId }: { endpointId: string }) {
  const read = useOperation<'webhookEndpoints.retrieve'>(apiPath(['webhooks', 'endpoints', endpointId]));
  const failing = useFailing()?.get(endpointId);
  const endpoint = read.data && { ...read.data, failing };
  return (
    <Screen
      title={endpoint?.url ?? 'Endpoint'}
      above={{ text: 'Webhooks', link: linkTo(['webhooks']) }}
      badges={endpoint ? <EndpointStatus endpoint={endpoint} /> : null}
      actions={endpoint ? <Actions endpoint={endpoint} etag={read.etag} /> : null}
    >
      {endpoint?.status === 'disabled' ? (
        <Notice tone="warn">{whyDisabled(endpoint)} Nothing is sent, and deliveries are held.</Notice>
      ) : null}
      {failing ? (
        <Notice tone="bad">
          <FailureOf failing={failing} />
        </Notice>
      ) : null}
      <div class="columns-main">
        <DeliveriesCard endpointId={endpointId} endpoint={endpoint} />
        <div class="stack">
          <Card title="Endpoint">
            <Loaded read={read}>{(one) => <Details endpoint={one} />}</Loaded>
          </Card>
          <ReplayCard endpointId={endpointId} isEnabled={endpoint?.status === 'enabled'} />
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
  const askToTest = () =>
    askToChange({
      title: `Send a test event to ${url}?`,
      effect: 'It is signed and delivered like any other. Its data name objects that do not exist.',
      verb: 'Send test event',
      request: { method: 'POST', path: apiPath([...path, 'test']), body: {} },
      done: 'The test event is on its way: it is the first delivery below.',
      onDone: (body) => followAttempt(body as Responded<'webhookEndpoints.test'>),
    });
  return (
    <>
      <button type="button" class="button" onClick={() => askToSwitch(endpoint, etag)}>
        {isEnabled ? 'Disable' : 'Enable'}
      </button>
      <button type="button" class="button button-primary" disabled={!isEnabled} onClick={askToTest}>
        Send test event
      </button>
    </>
  );
}
