import type { EventType } from '../../schemas/event-types.ts';
import { splitEnvironment } from '../../schemas/primitives/environment.ts';
import { exactJson } from '../../schemas/primitives/exact-json.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';

/** Five bits each: no event that happened has such an id by chance. */
const TEST_ID = 'evt_testevent';

/** An event that did not happen, of objects that there are not. */
export function testEvent(
  type: EventType,
  { environment, nowMs }: { environment: string; nowMs: number },
): { id: string; body: string } {
  const id = `${TEST_ID}${newId('evt').slice(TEST_ID.length)}`;
  const { workspaceId } = splitEnvironment(environment);
  const created_at = timestampText(nowMs);
  return { id, body: exactJson({ id, type, workspace_id: workspaceId, created_at, data: EXAMPLES[type] }) };
}

const plan = { planId: 'plan_example', status: 'draft', version: 1 };
const feature = { featureId: 'feat_example', key: 'example' };

const EXAMPLES: Record<EventType, object> = {
  'customer.created': {
    customerId: 'cus_example',
    customerName: 'Example',
    customerEmail: 'example@example.com',
  },
  'customer.updated': { customerId: 'cus_example', changes: ['name'] },
  'subscription.created': {
    customerId: 'cus_example',
    subscriptionId: 'sub_example',
    planId: 'plan_example',
  },
  'subscription.updated': { subscriptionId: 'sub_example', status: 'active', planId: 'plan_example' },
  'subscription.canceled': { subscriptionId: 'sub_example', canceledAt: '2026-01-01T00:00:00.000Z' },
  'plan.created': plan,
  'plan.updated': { planId: 'plan_example', version: 2 },
  'plan.published': { ...plan, status: 'published' },
  'plan.archived': { ...plan, status: 'archived' },
  'feature.updated': feature,
  'feature.deleted': feature,
  'usage.threshold': {
    customerId: 'cus_example',
    meterId: 'meter_example',
    thresholdValue: 80,
    kind: 'soft',
    currentUsage: 81,
  },
  'credit.granted': { customerId: 'cus_example', amount: 100, reason: 'example' },
  'credit.depleted': { customerId: 'cus_example', balance: 0 },
  'entitlement.changed': {
    customerId: 'cus_example',
    featureKey: 'example',
    allowed: true,
    effectiveValue: true,
  },
};
