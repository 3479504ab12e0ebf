/** Watching usage as it is counted. */
import { Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { NamedId, Nothing } from './fields.ts';

export const usageLiveRoutes = {
  'usageLive.stream': defineRoute({
    method: 'GET',
    path: `${API_BASE}/usage/live`,
    plane: 'control',
    access: 'usage:read',
    summary: 'Stream usage events as they are counted',
    description:
      'Server-sent events. `usage` has an event as the list of events shows it. At most 100 come in a ' +
      'second, and fewer where the client has not read the last ones; `sampled` says at its end how many ' +
      'were left out: `{"leftOut": 250, "isComplete": true}`, where `isComplete` is false if further ones ' +
      'were not even looked at. A comment comes every 10 seconds. A client that reads nothing for as long ' +
      'is disconnected. Nothing is repeated: read the list of events for what was missed. An environment ' +
      'may have ten streams in each process.',
    params: Nothing,
    query: Type.Object({
      customerId: Type.Optional(Type.String({ ...NamedId, description: 'Only events of this customer.' })),
      meterId: Type.Optional(Type.String({ ...NamedId, description: 'Only events of this meter.' })),
      forSeconds: Type.Integer({
        minimum: 1,
        maximum: 3600,
        default: 600,
        description: 'The stream ends after this time. An `EventSource` then connects again.',
      }),
    }),
    status: 200,
    response: Type.String(),
    mediaTypes: ['text/event-stream'],
    errors: ['customer_not_found', 'meter_not_found', 'rate_limited', 'unavailable'],
  }),
};
