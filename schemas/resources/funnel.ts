import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { NamedId, Nothing, Timestamp } from './fields.ts';

/** `activated` is never posted: it is derived from subscriptions. */
const POSTED_STAGES = ['widget_view', 'checkout_started'] as const;

export const FunnelEvent = Type.Object({
  event: Type.Enum([...POSTED_STAGES]),
  sessionId: Type.String({ ...NamedId, description: 'Stable and anonymous, one per mount of the widget.' }),
  planId: Type.Optional(Type.String({ ...NamedId, description: 'Recorded as it is sent.' })),
});
export type FunnelEvent = Static<typeof FunnelEvent>;

/** What `navigator.sendBeacon` sends without a preflight. */
export const FunnelEventText = Type.String({
  format: 'binary',
  contentMediaType: 'application/json',
  contentSchema: FunnelEvent,
  description: 'A `FunnelEvent` as JSON.',
});

export const FunnelEventReceipt = Type.Object({ id: Type.String() });

export const FunnelStage = Type.Object({
  stage: Type.Enum([...POSTED_STAGES, 'activated']),
  sessions: Type.Integer({ description: 'Different sessions.' }),
  rate: Type.Number({ description: "The share of the first stage's sessions; 0 where that has none." }),
});

export const Funnel = Type.Object({ from: Timestamp, to: Timestamp, stages: Type.Array(FunnelStage) });
export type Funnel = Static<typeof Funnel>;

const EXAMPLE = {
  event: 'checkout_started',
  sessionId: 'mount-5f0c',
  planId: 'plan_mfrggzdfmztwq2lknnwg23tpoa',
};

export const funnelRoutes = {
  'funnel.record': defineRoute({
    method: 'POST',
    path: `${API_BASE}/events/funnel`,
    plane: 'control',
    access: 'publishable',
    fromBrowser: true,
    summary: 'Record an anonymous step of the pricing widget',
    description:
      'For browsers, under a publishable key: CORS is answered for every origin, a `text/plain` body holds ' +
      'the same JSON, and the publishable key may stand in `?key=` (`navigator.sendBeacon`). Limited per ' +
      'publishable key: 429 with `Retry-After`. Events are kept for 400 days. `activated` is never posted: ' +
      'create the subscription with `metadata.sessionId`.',
    params: Nothing,
    query: Type.Object({
      key: Type.Optional(
        Type.String({
          maxLength: 128,
          description: 'A publishable key, in place of a header. Never a secret one.',
        }),
      ),
    }),
    body: FunnelEvent,
    example: EXAMPLE,
    bodyTexts: { 'text/plain': { schema: FunnelEventText, example: JSON.stringify(EXAMPLE) } },
    status: 201,
    response: FunnelEventReceipt,
    errors: [],
  }),
  'funnel.retrieve': defineRoute({
    method: 'GET',
    path: `${API_BASE}/funnel`,
    plane: 'control',
    access: 'plans:read',
    summary: 'How many sessions saw the widget, started a checkout and subscribed',
    description:
      'Of what happened from `from` (30 days before `to` by default) up to `to` (now by default). A ' +
      'session is `activated` when a subscription with its `metadata.sessionId` was created at or after ' +
      'its `checkout_started`. With `planId`: checkouts and subscriptions of that plan, and views that ' +
      'name it or none.',
    params: Nothing,
    query: Type.Object({
      from: Type.Optional(Timestamp),
      to: Type.Optional(Timestamp),
      planId: Type.Optional(NamedId),
    }),
    status: 200,
    response: Funnel,
    errors: [],
  }),
};
