import { askToChange } from '../../api/change.tsx';
import { apiPath } from '../../api/rest.ts';
import type { EndpointState } from './failing.ts';

const WHY = {
  gone: 'It responded with 410, so it was disabled.',
  failing: 'Every attempt of 5 days failed, so it was disabled.',
};

export function whyDisabled({ disabledReason }: Pick<EndpointState, 'disabledReason'>): string {
  return disabledReason ? WHY[disabledReason] : 'It was disabled by a request, which the audit log names.';
}

type Switched = Pick<EndpointState, 'id' | 'url' | 'status' | 'disabledReason'>;

/** Enables an endpoint that is disabled, and the reverse. With an ETag only as the reader saw it. */
export function askToSwitch(endpoint: Switched, etag?: string): void {
  const { id, url, status } = endpoint;
  const isEnabled = status === 'enabled';
  askToChange({
    title: isEnabled ? `Disable ${url}?` : `Enable ${url}?`,
    effect: isEnabled ? (
      'Nothing is sent any more. Deliveries are held until you replay them.'
    ) : (
      <>
        <p>{whyDisabled(endpoint)} Nothing can be sent or replayed to it until it is enabled.</p>
        <p>Events are sent again from now on. Held deliveries stay held until you replay them.</p>
      </>
    ),
    verb: isEnabled ? 'Disable' : 'Enable',
    isDanger: isEnabled,
    request: {
      method: 'PATCH',
      path: apiPath(['webhooks', 'endpoints', id]),
      body: { status: isEnabled ? 'disabled' : 'enabled' },
      headers: etag === undefined ? {} : { 'If-Match': etag },
    },
    done: isEnabled ? 'The endpoint was disabled.' : 'The endpoint was enabled.',
  });
}
