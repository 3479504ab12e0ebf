/**
 * Which rows of a change of usage a block of the load, or an entry of a frame, has
 * (docs/decisions/corrections.md).
 */
export interface ChangeRows {
  /** Of Postgres `usage_changes`; 1 at least. */
  number: number;
  /** Events that the change takes away, each with its own id, time and value; else events that it adds. */
  voids: boolean;
  /** Of voids: the change that the voided events are themselves of; 0, ordinary usage, when left out. */
  of?: number;
}
