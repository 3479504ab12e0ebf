import type { Client } from 'pg';
import { type Api, callDone } from '../../tests/support/api.ts';
import { seenInTime } from '../../tests/support/in-time.ts';

/** Billing periods begin at as many different times. */
const ORIGINALS = 30;
const DAY_MS = 86_400_000;
const NUMBER_DIGITS = 7;
/** What the product writes of a customer with a subscription, parents first. */
const TABLES = [
  'customers',
  'subscriptions',
  'subscription_terms',
  'metered_terms',
  'entitlements_told',
  'audit_log',
  'webhook_events',
];
const FANNED_OUT = { timeoutMs: 60_000, everyMs: 100 };

export interface CustomersPlan {
  /** Customers have them in turns. */
  planIds: readonly string[];
  /** A multiple of the originals. */
  count: number;
}

/**
 * Customers with a subscription each: a few that the API makes, and copies of all that it wrote of them: it
 * needs some milliseconds for each. Created as if they had come over a month.
 */
export async function createCustomers(
  api: Api,
  client: Client,
  { planIds, count }: CustomersPlan,
): Promise<void> {
  await client.query(
    'CREATE TEMP TABLE originals (number int, digits text, customer text, subscription text)',
  );
  for (let number = 0; number < ORIGINALS; number += 1) {
    const original = await createOriginal(api, number, planIds[number % planIds.length] ?? '');
    await client.query('INSERT INTO originals VALUES ($1, $2, $3, $4)', original);
  }
  const isFannedOut = async () => {
    const { rows } = await client.query('SELECT FROM webhook_events WHERE NOT fanned_out LIMIT 1');
    return rows.length === 0 || undefined;
  };
  await seenInTime(isFannedOut, FANNED_OUT, 'the events of the first customers');
  for (const table of TABLES) await copyRows(client, table, count);
  // As it is after a night.
  await client.query('VACUUM (ANALYZE)');
}

async function createOriginal(api: Api, number: number, planId: string): Promise<unknown[]> {
  const digits = String(number).padStart(NUMBER_DIGITS, '0');
  const externalId = `account-${digits}`;
  const customer = { name: `Customer ${digits}`, email: `billing@customer-${digits}.example`, externalId };
  const { id: customerId } = await callDone(api, 'POST', '/customers', customer);
  const currentPeriodStart = new Date(Date.now() - number * 0.9 * DAY_MS).toISOString();
  const subscription = { customerId: externalId, planId, currentPeriodStart };
  const { id: subscriptionId } = await callDone(api, 'POST', '/subscriptions', subscription);
  return [number, digits, customerId, subscriptionId];
}

/** As JSON, in which digits and ids are replaced wherever they stand: bodies of events have them too. */
async function copyRows(client: Client, table: string, count: number): Promise<void> {
  const { rows } = await client.query<{ names: string; copied: string }>(
    `SELECT string_agg(quote_ident(column_name), ', ') AS names,
            string_agg('copy.' || quote_ident(column_name), ', ') AS copied
       FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER' AND is_identity = 'NO'`,
    [table],
  );
  const [{ names, copied } = { names: '', copied: '' }] = rows;
  await client.query(
    `WITH written AS MATERIALIZED (
       SELECT o.number, o.digits, row.text,
              ARRAY[o.customer, o.subscription, nullif(row.id, o.customer)] AS ids
         FROM originals o, ${table} AS t,
              LATERAL (SELECT to_jsonb(t)::text, to_jsonb(t) ->> 'id') AS row (text, id)
        WHERE position(o.customer IN row.text) > 0 OR position(o.subscription IN row.text) > 0
     )
     INSERT INTO ${table} (${names})
     SELECT ${copied}
       FROM generate_series(${ORIGINALS}, $1::int - 1) AS n
       JOIN written ON number = n % ${ORIGINALS},
            LATERAL (SELECT replace(text, digits, lpad(n::text, ${NUMBER_DIGITS}, '0'))) AS numbered (text),
            LATERAL (${copiedIds(['ids[1]', 'ids[2]', 'ids[3]'], 'numbered.text')}) AS with_ids (text),
            LATERAL (SELECT now() - n * interval '25 s') AS time (created_at),
            LATERAL jsonb_populate_record(
              NULL::${table},
              with_ids.text::jsonb || jsonb_build_object('created_at', time.created_at)
            ) AS copy`,
    [count],
  );
}

/** Each id with a prefix becomes one that is made of it and the number of the copy. */
function copiedIds(ids: readonly string[], text: string): string {
  const copy = (id: string) =>
    `split_part(${id}, '_', 1) || '_' || translate(left(md5(${id} || n), 26), '0189', 'wxyz')`;
  const replaced = ids.reduce(
    (inner, id) =>
      `CASE WHEN ${id} ~ '^[a-z]+_' THEN replace(${inner}, ${id}, ${copy(id)}) ELSE ${inner} END`,
    text,
  );
  return `SELECT ${replaced}`;
}
