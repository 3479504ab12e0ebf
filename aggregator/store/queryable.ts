import type { Pool } from 'pg';

/** A pool, or the connection of a running transaction. */
export type Queryable = Pick<Pool, 'query'>;
