import { newId } from '../../schemas/primitives/ids.ts';
import type { ApiUnderTest } from '../api-under-test.ts';

export type EndpointUnderTest = Awaited<ReturnType<typeof startEndpoint>>;

interface Notified {
  endpoint?: string;
  eventId?: string;
}

const BASE_MS = Date.UTC(2026, 10, 1);

export function at(seconds: number): Date {
  return new Date(BASE_MS + seconds * 1_000);
}

/**
 * One enabled endpoint of a separate workspace, with the rows that the delivery service would have written.
 */
export async function startEndpoint(api: ApiUnderTest) {
  const { workspaceId, live } = await api.addWorkspace();
  const [key, environment] = [live.secret, `${workspaceId}:live`];

  async function newEndpoint(events = ['*']): Promise<string> {
    const body = { url: 'https://receiver.example/', events };
    return (await api.request('createWebhookEndpoint', { key, body })).body.id;
  }

  const endpointId = await newEndpoint();
  /** What a request of it, or of another endpoint, names. */
  const of = (id = endpointId) => ({ key, params: { endpointId: id } });
  return {
    key,
    environment,
    endpointId,
    newEndpoint,
    of,

    deliveries: async (query: Record<string, string | number> = {}, id?: string) =>
      (await api.request('webhookDeliveries.list', { ...of(id), query })).body,
    replayed: (deliveryId: string) =>
      api.request('webhookDeliveries.replay', { key, params: { deliveryId } }),

    /** An event of that second after {@link at}(0), and its outcome. */
    async notified(seconds: number, state: string, more: Notified = {}) {
      const { endpoint = endpointId, eventId = newId('evt') } = more;
      const id = newId('dlv');
      await api.pool.query(
        `INSERT INTO webhook_events (id, environment, type, object_id, body, created_at, fanned_out)
         VALUES ($1, $2, 'plan.created', 'plan_x', '{}', $3, true) ON CONFLICT DO NOTHING`,
        [eventId, environment, at(seconds)],
      );
      await api.pool.query(
        `INSERT INTO webhook_deliveries (id, environment, endpoint_id, event_id, state, attempts, created_at)
         VALUES ($1, $2, $3, $4, $5, 2, $6)`,
        [id, environment, endpoint, eventId, state, at(seconds)],
      );
      await queuePending(api, environment);
      return { id, eventId };
    },

    /** So many events, a millisecond apart, with a delivery each. */
    async notifiedMany(count: number, state: 'failed' | 'pending') {
      await api.pool.query(
        `WITH inserted AS (
           INSERT INTO webhook_events (id, environment, type, object_id, body, created_at, fanned_out)
           SELECT 'evt_' || $1 || n, $1, 'plan.created', 'plan_x', '{}',
                  $2::timestamptz + n * interval '1 ms', true
             FROM generate_series(1, $5) AS n RETURNING id, created_at
         )
         INSERT INTO webhook_deliveries (id, environment, endpoint_id, event_id, state, created_at)
         SELECT 'dlv_' || id, $1, $3, id, $4, created_at FROM inserted`,
        [environment, at(0), endpointId, state, count],
      );
      await queuePending(api, environment);
    },

    /** The events that are due now, in their order. */
    async dueNow() {
      const { rows } = await api.pool.query<{ id: string }>(
        `SELECT event_id AS id FROM webhook_queue q JOIN webhook_events e ON e.id = q.event_id
          WHERE q.environment = $1 AND due_at <= now() + interval '1 second' ORDER BY e.created_at`,
        [environment],
      );
      return rows.map(({ id }) => id);
    },

    /** The events whose next attempt does not wait for an open circuit, in their order. */
    async hurried() {
      const { rows } = await api.pool.query<{ id: string }>(
        `SELECT event_id AS id FROM webhook_queue q JOIN webhook_events e ON e.id = q.event_id
          WHERE q.environment = $1 AND is_hurried AND due_at <= now() + interval '1 second'
          ORDER BY e.created_at`,
        [environment],
      );
      return rows.map(({ id }) => id);
    },

    disable: () =>
      api.request('webhookEndpoints.update', { key, params: { endpointId }, body: { status: 'disabled' } }),
  };
}

/** Each waits for its next attempt. */
async function queuePending({ pool }: ApiUnderTest, environment: string): Promise<void> {
  await pool.query(
    `INSERT INTO webhook_queue (delivery_id, delivery_created_at, environment, endpoint_id, event_id, due_at)
     SELECT id, created_at, environment, endpoint_id, event_id, now() + interval '5 hours'
       FROM webhook_deliveries WHERE environment = $1 AND state = 'pending' ON CONFLICT DO NOTHING`,
    [environment],
  );
}
