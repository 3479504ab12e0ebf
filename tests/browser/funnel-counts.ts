import { Pool } from 'pg';
import type { Call } from './call-api.ts';

/** What the funnel has counted. */
export interface FunnelCounts {
  /** Sessions by stage, of the whole environment. */
  stages(): Promise<Record<string, number>>;
  /** Of one session: views of other tests may still be on their way. */
  viewsOf(sessionId: string): Promise<number>;
  close(): Promise<void>;
}

export async function openFunnel(call: Call, postgresUrl: string): Promise<FunnelCounts> {
  const pool = new Pool({ connectionString: postgresUrl, max: 1 });
  return {
    async stages() {
      const funnel = await call<{ stages: Array<{ stage: string; sessions: number }> }>('GET', '/funnel');
      return Object.fromEntries(funnel.stages.map(({ stage, sessions }) => [stage, sessions]));
    },
    async viewsOf(sessionId) {
      const { rowCount } = await pool.query(
        "SELECT FROM funnel_events WHERE session_id = $1 AND event = 'widget_view'",
        [sessionId],
      );
      return rowCount ?? 0;
    },
    close: () => pool.end(),
  };
}
