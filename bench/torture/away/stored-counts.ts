import type { Ledger } from '../../ledger.ts';
import type { Address } from '../proxy/tcp-proxy.ts';

/** Without FINAL: a row that was stored twice is seen before a merge hides it. */
const SQL = `SELECT toString(count()) AS rows, toString(uniqExact(id)) AS ids,
    toString((SELECT sum(events) FROM metergate.usage_hourly)) AS counted
  FROM metergate.events FORMAT JSONEachRow`;
const TIMEOUT_MS = 60_000;

/** How a ClickHouse server's rows differ from the ledger: each event once in `events`, once in the hours. */
export async function compareServedRows({ host, port }: Address, ledger: Ledger): Promise<string[]> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetch(`http://${host}:${port}/`, { method: 'POST', body: SQL, signal });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the warehouse says ${text}`);
  const seen = JSON.parse(text) as Record<string, string>;
  const expected = String(ledger.size());
  return ['rows', 'ids', 'counted'].flatMap((name) => {
    return seen[name] === expected ? [] : [`the warehouse has ${name} ${seen[name]}, expected ${expected}`];
  });
}
