/** The feed from which clients decide entitlements themselves. */
import { Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { NamedId, Nothing, ruled } from './fields.ts';

/** Customers that one feed names; their ids have to fit into the head of a request. */
export const FEED_CUSTOMERS_MAX = 500;
const CUSTOMER_IDS_CHARS_MAX = 12_000;

export const entitlementFeedRoutes = {
  'entitlements.feed': defineRoute({
    method: 'GET',
    path: `${API_BASE}/entitlements/feed`,
    plane: 'control',
    access: 'entitlements:read',
    summary: 'Stream entitlements and their changes',
    description:
      'Server-sent events, for clients that decide in their own process. `begin` has the time of the ' +
      'server, `now`, and `resumed`. `customer` has all of one ' +
      'customer: `{customerId, asked, status, otherwise, credits, features}`, where each feature has its ' +
      '`decision` as a check without `requested` returns it, and `meterId`, `aggregation`, `soft` and ' +
      '`creditRate` where it has them; it replaces what came before. `usage` has the decisions of the ' +
      'features whose count has changed: `{customerId, asked, decisions}`. `ready` says that all customers ' +
      'were sent. `time` says up to when everything is counted, `asOf`, and ' +
      'the time of the server, `now`. Changes are collected for 250 ms. After ' +
      '`ready` events have an id; a client that connects again with `Last-Event-ID` gets what has changed ' +
      'since, or everything where that is not known: then `resumed` is false, and customers that are not ' +
      'sent up to `ready` are to be dropped. A client that reads too slowly is disconnected.',
    params: Nothing,
    query: Type.Object({
      customerIds: Type.Optional(
        Type.String({
          maxLength: CUSTOMER_IDS_CHARS_MAX,
          ...ruled('[^,]', 'must name a customer'),
          description:
            'Ids or your own external ids: each percent-encoded, joined by commas, and the list encoded as ' +
            `any value of a query (\`a,b\` is \`a%252Cb\`). At most ${FEED_CUSTOMERS_MAX}. Left out: the ` +
            'customers that were checked lately, up to 2,000.',
        }),
      ),
      forSeconds: Type.Integer({
        minimum: 1,
        maximum: 3600,
        default: 3600,
        description:
          'The stream ends after this time, or up to a tenth earlier. An `EventSource` then connects again.',
      }),
      heartbeatSeconds: Type.Integer({
        minimum: 1,
        maximum: 20,
        default: 15,
        description: 'How often `time` comes.',
      }),
    }),
    headers: Type.Object({ 'Last-Event-ID': Type.Optional(NamedId) }),
    status: 200,
    response: Type.String(),
    mediaTypes: ['text/event-stream'],
    errors: ['rate_limited', 'unavailable'],
  }),
};
