import type { LoadStores } from '../../tests/support/load-stores.ts';
import type { Difference } from './hour-sums.ts';
import { requestAudit } from './request-audit.ts';

export interface Audited {
  code: number;
  hours: number;
  differences: Difference[];
}

/** As the command does it, with what it recorded. */
export async function audit(
  { pool }: Pick<LoadStores, 'pool'>,
  { repair } = { repair: false },
): Promise<Audited> {
  const code = await requestAudit(pool, { repair, beginWithinMs: 20_000, print: () => undefined });
  const { rows } = await pool.query(
    'SELECT hours, differences FROM audit_runs ORDER BY asked_at DESC LIMIT 1',
  );
  return { code, ...rows[0] };
}
