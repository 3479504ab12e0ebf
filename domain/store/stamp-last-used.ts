import type { Pool } from 'pg';

/** Raises when each key was used last. In the order of ids: both tiers stamp the same keys. */
export async function stampLastUsed(pool: Pool, used: Array<[keyId: string, atMs: number]>): Promise<void> {
  await pool.query(
    `WITH used AS (SELECT u.id, u.at FROM unnest($1::text[], $2::timestamptz[]) AS u (id, at)),
          locked AS (SELECT k.id FROM api_keys k JOIN used USING (id) ORDER BY k.id FOR NO KEY UPDATE OF k)
     UPDATE api_keys k SET last_used_at = used.at FROM used JOIN locked USING (id)
      WHERE k.id = used.id AND (k.last_used_at IS NULL OR k.last_used_at < used.at)`,
    [used.map(([id]) => id), used.map(([, atMs]) => new Date(atMs))],
  );
}
