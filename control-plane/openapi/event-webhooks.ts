import { EVENT_TYPES, EVENTS, type EventType, envelopeName, exampleEnvelope } from '../../schemas/events.ts';

const HEADERS = {
  'X-Service-Signature': '`t=<unix seconds>,v1=<hex>`; two `v1` while a secret is being replaced.',
  'X-Service-Timestamp': 'The `t` of the signature.',
  'X-Service-Attempt': '1 for the first attempt of a delivery.',
  'webhook-id': 'The `id` of the event.',
  'webhook-timestamp': 'The `t` of the signature.',
  'webhook-signature': 'The signature in the form of Standard Webhooks.',
};

/** Headers of every delivery, by the names of the references to them. */
export const DELIVERY_HEADERS = Object.fromEntries(
  Object.entries(HEADERS).map(([name, description]) => [
    name,
    { name, in: 'header', required: true, description, schema: { type: 'string' } },
  ]),
);

/** The `webhooks` of the description: one for each event type, sent to the endpoints that selected it. */
export function eventWebhooks(): Record<string, unknown> {
  return Object.fromEntries(EVENT_TYPES.map((type) => [type, { post: webhookOf(type) }]));
}

function webhookOf(type: EventType): Record<string, unknown> {
  const { summary, description }: { summary: string; description?: string } = EVENTS[type];
  return {
    tags: ['webhooks'],
    summary,
    ...(description === undefined ? {} : { description }),
    security: [],
    parameters: Object.keys(HEADERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { $ref: `#/components/schemas/${envelopeName(type)}` },
          example: exampleEnvelope(type),
        },
      },
    },
    responses: {
      '2XX': { description: 'The event was received. Any other response is a failed attempt.' },
      410: { description: 'The endpoint no longer exists: the server disables it.' },
    },
  };
}
