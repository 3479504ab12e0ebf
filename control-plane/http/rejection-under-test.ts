import type { Pool } from 'pg';

interface RejectedRows {
  /** `UPDATE ON customers`. */
  write: string;
  /** A condition on `new`. */
  when: string;
  /** A statement of plpgsql. */
  how: string;
}

/** From now on every write of these rows fails, also in the middle of a transaction. */
export async function rejectRows(pool: Pool, { write, when, how }: RejectedRows) {
  await pool.query('CREATE SEQUENCE tries');
  await pool.query(
    `CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN PERFORM nextval('tries'); ${how}; RETURN new; END $$`,
  );
  await pool.query(
    `CREATE TRIGGER reject BEFORE ${write} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION reject()`,
  );
  return {
    allow: () => pool.query('DROP FUNCTION reject CASCADE'),
    /** How many attempts: a rollback does not undo a sequence. */
    tries: async () => (await pool.query('SELECT last_value FROM tries')).rows[0].last_value,
  };
}
