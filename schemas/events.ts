import { type Static, type TObject, Type } from 'typebox';
import type { ExactNumber } from './primitives/exact-json.ts';
import { EntitlementValue } from './resources/entitlement-values.ts';
import { Decimal, Timestamp } from './resources/fields.ts';
import { CORRECTION_KINDS, PLAN_STATUSES, SUBSCRIPTION_STATUSES, THRESHOLD_KINDS } from './value-sets.ts';

/**
 * One type of webhook event: the source of the TypeScript types, the test event of an endpoint, the
 * `webhooks` of openapi.json and docs/use/events.md. A member that is added to `data` is a compatible
 * change; one that is removed or retyped is not.
 */
interface EventDefinition {
  /** When it is sent; one sentence. */
  summary: string;
  description?: string;
  data: TObject;
  /** Sent as the test event and shown in the documentation. It refers to no existing object. */
  example: Record<string, unknown>;
}

const CustomerId = Type.String({ description: "The customer's id." });
const PlanId = Type.String({ description: "The plan's id." });
const SubscriptionId = Type.String({ description: "The subscription's id." });

const planData = Type.Object({
  planId: PlanId,
  status: Type.Enum([...PLAN_STATUSES], { description: "The plan's status after the change." }),
  version: Type.Integer({ description: 'The current version of the plan.' }),
});
const featureData = Type.Object({
  featureId: Type.String({ description: "The feature's id." }),
  key: Type.String({ description: "The feature's key." }),
});

const planExample = { planId: 'plan_example', status: 'draft', version: 1 };
const featureExample = { featureId: 'feat_example', key: 'example' };

/**
 * Every webhook event by its type. Adding a type is a compatible change: endpoints select their types, and
 * those that selected `*` receive it too. None is renamed or removed.
 */
export const EVENTS = {
  'customer.created': defineEvent({
    summary: 'A customer was created.',
    data: Type.Object({
      customerId: CustomerId,
      customerName: Type.String({ description: "The customer's name." }),
      customerEmail: Type.String({ description: "The customer's email address." }),
    }),
    example: {
      customerId: 'cus_example',
      customerName: 'Example',
      customerEmail: 'example@example.com',
    },
  }),
  'customer.updated': defineEvent({
    summary: 'A customer was changed or archived, or is now on another plan.',
    data: Type.Object({
      customerId: CustomerId,
      changes: Type.Array(Type.String(), {
        description: 'The names of the fields that changed; `plan` when a subscription changed the plan.',
      }),
    }),
    example: { customerId: 'cus_example', changes: ['name'] },
  }),
  'subscription.created': defineEvent({
    summary: 'A subscription was created.',
    data: Type.Object({ customerId: CustomerId, subscriptionId: SubscriptionId, planId: PlanId }),
    example: { customerId: 'cus_example', subscriptionId: 'sub_example', planId: 'plan_example' },
  }),
  'subscription.updated': defineEvent({
    summary: 'The status, plan, add-ons or dates of a subscription changed.',
    description: 'A change of the metadata alone sends no event.',
    data: Type.Object({
      subscriptionId: SubscriptionId,
      status: Type.Enum([...SUBSCRIPTION_STATUSES], {
        description: "The subscription's status after the change.",
      }),
      planId: PlanId,
    }),
    example: { subscriptionId: 'sub_example', status: 'active', planId: 'plan_example' },
  }),
  'subscription.canceled': defineEvent({
    summary: 'A subscription reached the status `canceled`.',
    data: Type.Object({
      subscriptionId: SubscriptionId,
      canceledAt: Type.String({ ...Timestamp, description: 'When the subscription ended.' }),
    }),
    example: { subscriptionId: 'sub_example', canceledAt: '2026-01-01T00:00:00.000Z' },
  }),
  'plan.created': defineEvent({
    summary: 'A draft of a plan was created.',
    data: planData,
    example: planExample,
  }),
  'plan.updated': defineEvent({
    summary: 'A plan was changed in place, or has a new version.',
    data: Type.Object({
      planId: PlanId,
      version: Type.Integer({ description: 'The version that contains the change.' }),
    }),
    example: { planId: 'plan_example', version: 2 },
  }),
  'plan.published': defineEvent({
    summary: 'A plan was published.',
    data: planData,
    example: { ...planExample, status: 'published' },
  }),
  'plan.archived': defineEvent({
    summary: 'A plan was archived.',
    data: planData,
    example: { ...planExample, status: 'archived' },
  }),
  'feature.updated': defineEvent({
    summary: 'A feature was changed.',
    data: featureData,
    example: featureExample,
  }),
  'feature.deleted': defineEvent({
    summary: 'A feature was deleted.',
    data: featureData,
    example: featureExample,
  }),
  'usage.threshold': defineEvent({
    summary: "A customer's usage of a meter reached a threshold.",
    description:
      'Sent once for each customer, meter, threshold and period of the budget or limit, within seconds of ' +
      'the usage event.',
    data: Type.Object({
      customerId: CustomerId,
      meterId: Type.String({ description: "The meter's key." }),
      thresholdValue: Type.Unsafe<ExactNumber>({
        ...Decimal,
        description: 'The threshold that was reached.',
      }),
      kind: Type.Enum([...THRESHOLD_KINDS], {
        description:
          '`soft`: the soft threshold of a budget, or 80 % of a limit. `hard`: the hard threshold of a ' +
          'budget, or the limit.',
      }),
      currentUsage: Type.Unsafe<ExactNumber>({
        ...Decimal,
        description: 'The usage of the period when the threshold was found reached.',
      }),
    }),
    example: {
      customerId: 'cus_example',
      meterId: 'meter_example',
      thresholdValue: 80,
      kind: 'soft',
      currentUsage: 81,
    },
  }),
  'usage.corrected': defineEvent({
    summary: 'Usage that was counted was corrected.',
    description:
      'Sent once for each correction, when all of it counts. One that voids many events sends one event.',
    data: Type.Object({
      correctionId: Type.String({ description: 'The id of the correction.' }),
      kind: Type.Enum([...CORRECTION_KINDS], {
        description:
          '`void`: one event was voided. `amendment`: one event was replaced by another one. `selection`: ' +
          'many were voided at once.',
      }),
      voided: Type.Integer({ description: 'How many events were voided.' }),
      customerId: Type.Optional(
        Type.String({ description: 'The customer of the voided event, or the one that was selected.' }),
      ),
      meterId: Type.Optional(
        Type.String({ description: 'The key of the meter of the voided event, or of the selected one.' }),
      ),
      eventId: Type.Optional(Type.String({ description: 'Of one event: the voided one.' })),
      newEventId: Type.Optional(Type.String({ description: 'Of an amendment: the event in its place.' })),
      reason: Type.Optional(Type.String({ description: 'The reason that was given.' })),
    }),
    example: {
      correctionId: 'cor_example',
      kind: 'void',
      voided: 1,
      customerId: 'cus_example',
      meterId: 'meter_example',
      eventId: 'use_example',
    },
  }),
  'credit.granted': defineEvent({
    summary: 'Credits were granted to a customer.',
    data: Type.Object({
      customerId: CustomerId,
      amount: Type.Unsafe<ExactNumber>({ ...Decimal, description: 'The credits of the grant.' }),
      reason: Type.String({ description: 'The reason that the grant was made with.' }),
    }),
    example: { customerId: 'cus_example', amount: 100, reason: 'example' },
  }),
  'credit.depleted': defineEvent({
    summary: "A customer's credit balance reached zero.",
    description: 'Sent once for each time that the balance reaches zero.',
    data: Type.Object({
      customerId: CustomerId,
      balance: Type.Unsafe<ExactNumber>({ ...Decimal, description: 'Always 0.' }),
    }),
    example: { customerId: 'cus_example', balance: 0 },
  }),
  'entitlement.changed': defineEvent({
    summary: 'The value that a customer has of a feature changed.',
    description:
      'Sent once for each feature whose value differs from the last one that was sent. After a change that ' +
      'affects one customer it is sent with the change; after a change of a plan with many subscribers it ' +
      'is sent within seconds. Usage and credits do not send it.',
    data: Type.Object({
      customerId: CustomerId,
      featureKey: Type.String({ description: "The feature's key." }),
      allowed: Type.Boolean({
        description:
          'Boolean features: the value. Other features: true when the limit is more than 0, unlimited or ' +
          'soft.',
      }),
      effectiveValue: Type.Unsafe<Static<typeof EntitlementValue>>({
        ...EntitlementValue,
        description:
          'Boolean features: the same as `allowed`. Other features: the limit, null when it is ' +
          'unlimited, 0 when the customer no longer has the feature.',
      }),
    }),
    example: { customerId: 'cus_example', featureKey: 'example', allowed: true, effectiveValue: true },
  }),
} as const satisfies Record<string, EventDefinition>;

export type EventType = keyof typeof EVENTS;

/** In the order of the table. */
export const EVENT_TYPES = Object.keys(EVENTS) as readonly EventType[];

/** The `data` of each type. */
export type EventData = { [Type in EventType]: Static<(typeof EVENTS)[Type]['data']> };

/** One event to emit, before it has an id. */
export type ChangeEvent = {
  [Type in EventType]: { type: Type; data: EventData[Type] };
}[EventType];

/** The body of a delivery of this type. */
export function envelopeSchema(type: EventType): TObject {
  const { summary, data } = EVENTS[type];
  return Type.Object(
    {
      id: Type.String({ description: 'The same for every attempt and every replay.' }),
      type: Type.Literal(type),
      workspace_id: Type.String(),
      created_at: Timestamp,
      data,
    },
    { description: summary },
  );
}

/** `CustomerCreatedEvent` for `customer.created`. */
export function envelopeName(type: EventType): string {
  const words = type.split(/[._]/).map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `${words.join('')}Event`;
}

/** An envelope with the example of its type. */
export function exampleEnvelope(type: EventType): Record<string, unknown> {
  return {
    id: 'evt_example',
    type,
    workspace_id: 'ws_example',
    created_at: '2026-01-01T00:00:00.000Z',
    data: EVENTS[type].example,
  };
}

/** Keeps the exact type of a definition. */
function defineEvent<const Definition extends EventDefinition>(definition: Definition): Definition {
  return definition;
}
