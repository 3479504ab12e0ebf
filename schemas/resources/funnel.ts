import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { NamedId, Nothing, PublishableKeyQuery, Timestamp } from './fields.ts';

/** `activated` is not recorded by clients: it is derived from subscriptions. */
const POSTED_STAGES = ['widget_view', 'checkout_started'] as const;

export const FunnelEvent = Type.Object({
  event: Type.Enum([...POSTED_STAGES]),
  sessionId: Type.String({ ...NamedId, description: 'Stable and anonymous; one per mount of the widget.' }),
  planId: Type.Optional(Type.String({ ...NamedId, description: 'Stored as sent; the plan need not exist.' })),
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
  sessions: Type.Integer({ description: 'Number of distinct sessions.' }),
  rate: Type.Number({
    description:
      'Sessions of this stage divided by those of the first stage; 0 when the first stage has none.',
  }),
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
    summary: 'Record an anonymous event of the pricing widget',
    description:
      'For browsers, with a publishable key. CORS allows every origin. For `navigator.sendBeacon`, a ' +
      '`text/plain` body may contain the same JSON and `?key=` the publishable key. Requests are limited ' +
      'per publishable key: 429 with `Retry-After`. Events are stored for 400 days. The stage ' +
      '`activated` is not recorded here: create the subscription with `metadata.sessionId`.',
    params: Nothing,
    query: PublishableKeyQuery,
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
    summary: 'Retrieve the pricing funnel: sessions that saw the widget, started a checkout and subscribed',
    description:
      'Counts events with `from` ≤ time < `to`. `to` is now by default, `from` 30 days before `to`. A ' +
      'session is `activated` when a subscription with its `metadata.sessionId` was created at or after ' +
      'its `checkout_started`. With `planId`, only checkouts and subscriptions of that plan count, and ' +
      'views that name that plan or no plan.',
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
