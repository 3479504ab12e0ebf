import { randomUUID } from 'node:crypto';
import { Stripe } from 'stripe';
import { type Api, callDone, getPatiently, type Method } from '../support/api.ts';
import { numberText } from '../support/exact.ts';
import { seenInTime } from '../support/in-time.ts';
import type { DemoKeys, Instance } from '../support/instance.ts';
import { openPrepared } from '../support/open-instance.ts';

/** One running Metergate on which scenarios run at once, each with customers, meters and plans of its own. */
export interface CreditWorld {
  /** A meter with credit rate 1, and a metered feature on it. */
  meter(): Promise<string>;
  /** A published plan that gives the meter's feature: so much of it, all of it (null), or none of it. */
  plan(meter: string, value: number | null | undefined): Promise<string>;
  editPlan(planId: string, meter: string, value?: number): Promise<void>;
  addon(meter: string, value: number): Promise<string>;
  customer(granted?: number): Promise<string>;
  grant(customerId: string, amount: number): Promise<void>;
  subscribe(customerId: string, planId: string, fields?: object): Promise<string>;
  change(method: Method, path: string, body?: object): Promise<Response>;
  /** In one batch. Gives when each of them occurred. */
  use(...events: Usage[]): Promise<Date[]>;
  /** Waits until the wallet has this balance, and this is unpaid. */
  holds(customerId: string, balance: number, unpaid?: number): Promise<void>;
  /** The balance after usage that costs 1: by then all that was marked or used before it is settled too. */
  settles(usage: Pick<Usage, 'customerId' | 'meterId'>, balance: number, unpaid?: number): Promise<void>;
  /** What `usage.retrieve` says, of everything that was acknowledged before it. */
  current(meter: Pick<Usage, 'customerId' | 'meterId'>, at?: Date): Promise<number>;
  /** Waits until a feature's limit is this one. */
  hasLimit(customerId: string, meter: string, limit: number): Promise<void>;
  /** An event of the payment processor, signed as Stripe signs it. */
  processorSays(type: 'updated' | 'deleted', object: object): Promise<void>;
  close(): Promise<unknown>;
}

export type Response = Record<string, unknown>;

export interface Usage {
  customerId: string;
  meterId: string;
  value: number;
  occurredAt?: Date;
}

const PATIENCE_MS = 60_000;
const WAIT = { timeoutMs: PATIENCE_MS, everyMs: 50 };
const PROCESSOR_SECRET = 'whsec_of_the_processor';

export async function openCreditWorld(): Promise<CreditWorld> {
  const environment = { LOG_LEVEL: 'warn', LOAD_LINGER_MS: '5' };
  return await openPrepared(environment, { connections: 32 }, async ({ instance, api, close }) => {
    await callDone(api, 'POST', '/integrations/processor', {
      action: 'set_webhook_secret',
      secret: PROCESSOR_SECRET,
    });
    return { ...catalogueOf(api), ...usageOf(api), ...processorOf(instance, instance.keys()), close };
  });
}

/** Names are unique over all scenarios. */
function catalogueOf(api: Api) {
  let made = 0;
  const name = (what: string) => {
    made += 1;
    return `${what}-${made}`;
  };
  const entitlements = (meter: string, value?: number | null) => ({
    entitlements: value === undefined ? [] : [{ featureKey: meter, value }],
  });
  return {
    async meter() {
      const key = name('meter');
      await callDone(api, 'POST', '/meters', { key, name: key, aggregation: 'sum', creditRate: 1 });
      await callDone(api, 'POST', '/features', { key, name: key, type: 'metered', meterKey: key });
      return key;
    },
    async plan(meter: string, value: number | null | undefined) {
      const { id } = await callDone(api, 'POST', '/plans', { name: name('plan'), productId: 'credits' });
      await callDone(api, 'PUT', `/plans/${id}/entitlements`, entitlements(meter, value));
      await callDone(api, 'POST', `/plans/${id}/publish`);
      return String(id);
    },
    async editPlan(planId: string, meter: string, value?: number) {
      await callDone(api, 'PUT', `/plans/${planId}/entitlements`, entitlements(meter, value));
    },
    async addon(meter: string, value: number) {
      const key = name('addon');
      const { id } = await callDone(api, 'POST', '/addons', { key, name: key });
      await callDone(api, 'PUT', `/addons/${id}/entitlements`, entitlements(meter, value));
      return String(id);
    },
    async customer(granted?: number) {
      const { id } = await callDone(api, 'POST', '/customers', {
        name: name('payer'),
        email: 'a@example.com',
      });
      if (granted !== undefined) await grant(api, String(id), granted);
      return String(id);
    },
    grant: (customerId: string, amount: number) => grant(api, customerId, amount),
    async subscribe(customerId: string, planId: string, fields: object = {}) {
      const { id } = await callDone(api, 'POST', '/subscriptions', { customerId, planId, ...fields });
      return String(id);
    },
    change: (method: Method, path: string, body?: object) => callDone(api, method, path, body),
  };
}

function usageOf(api: Api) {
  async function use(...events: Usage[]): Promise<Date[]> {
    const numbered = events.map((event) => ({ ...event, idempotencyKey: randomUUID() }));
    const body = { events: numbered };
    const { results } = await callDone(api, 'POST', '/usage/events/batch?include=events', body);
    return (results as Array<{ event?: { occurredAt: string } }>).map((result) => {
      if (!result.event) throw new Error(`usage returned ${JSON.stringify(result)}`);
      return new Date(result.event.occurredAt);
    });
  }
  async function holds(customerId: string, balance: number, unpaid = 0): Promise<void> {
    let last = '';
    const look = async () => {
      const { body } = await getPatiently(api, `/customers/${customerId}/credits`, PATIENCE_MS);
      const wallet = body as Response;
      last = `${numberText(wallet.balance)} and ${numberText(wallet.unpaid)} unpaid`;
      return last === `${balance} and ${unpaid} unpaid` || undefined;
    };
    await seenInTime(look, WAIT, `${balance} and ${unpaid} unpaid`).catch((error: Error) => {
      throw new Error(`${error.message}: the wallet has ${last}`);
    });
  }
  return {
    use,
    holds,
    async settles(
      { customerId, meterId }: Pick<Usage, 'customerId' | 'meterId'>,
      balance: number,
      unpaid = 0,
    ) {
      await use({ customerId, meterId, value: 1 });
      await holds(customerId, balance, unpaid);
    },
    async current({ customerId, meterId }: Pick<Usage, 'customerId' | 'meterId'>, at?: Date) {
      const time = at ? `&at=${at.toISOString()}` : '';
      const path = `/usage/${customerId}/${meterId}?consistency=strong${time}`;
      const { body } = await getPatiently(api, path, PATIENCE_MS);
      return Number(numberText((body as Response).current));
    },
    async hasLimit(customerId: string, meter: string, limit: number) {
      const look = async () => {
        const { body } = await getPatiently(api, `/entitlements/${customerId}/${meter}`, PATIENCE_MS);
        return numberText((body as Response).limit) === String(limit) || undefined;
      };
      await seenInTime(look, WAIT, `a limit of ${limit}`);
    },
  };
}

function processorOf({ origin }: Instance, { workspaceId }: DemoKeys) {
  let sent = 0;
  return {
    async processorSays(type: 'updated' | 'deleted', object: object) {
      const timestamp = Math.floor(Date.now() / 1000);
      sent += 1;
      const id = `evt_${sent}`;
      const whole = { id, type: `customer.subscription.${type}`, created: timestamp, data: { object } };
      const payload = JSON.stringify(whole);
      const secret = PROCESSOR_SECRET;
      const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
      const response = await fetch(`${origin}/api/v1/integrations/processor/webhooks/${workspaceId}/live`, {
        method: 'POST',
        body: payload,
        headers: { 'content-type': 'application/json', 'stripe-signature': signature },
      });
      if (response.status !== 200) throw new Error(`the processor webhook returned ${await response.text()}`);
    },
  };
}

async function grant(api: Api, customerId: string, amount: number): Promise<void> {
  await callDone(api, 'POST', `/customers/${customerId}/credits`, { amount, reason: 'for the test' });
}
