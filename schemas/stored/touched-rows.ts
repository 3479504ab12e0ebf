import type { ChangeRows } from './change-rows.ts';

/**
 * What a frame has touched, as JSON: rows of environment, customer id, meter key and the span of the times of
 * their events. From version 4 of frames on a row may name the change of usage that its events are of, behind
 * the meter's key: `{"change":7}`, of voids `{"change":7,"voids":true}`, and `"of":3` where the voided events
 * are of a change themselves. A (customer, meter) has a row for each.
 */
export interface TouchedRow {
  environment: string;
  customerId: string;
  meterKey: string;
  /** Left out: ordinary usage. */
  change?: ChangeRows;
  occurredFromMs: number;
  occurredToMs: number;
}

/** What follows the names of a row; nothing for ordinary usage. */
export function changeText(change: ChangeRows | undefined): string {
  if (!change) return '';
  const { number, voids, of = 0 } = change;
  return `,{"change":${number}${voids ? ',"voids":true' : ''}${of > 0 ? `,"of":${of}` : ''}}`;
}

const CLOSING_BRACE = 125;

/** Whether these names, as they are written, are followed by a change. */
export function namesChange(pair: string): boolean {
  return pair.charCodeAt(pair.length - 1) === CLOSING_BRACE;
}

/** Undefined where it is no such text. Changes are rejected in frames that cannot have any. */
export function parseTouchedRows(text: string, mayHaveChanges: boolean): TouchedRow[] | undefined {
  const rows = parseArray(text);
  const found: TouchedRow[] = [];
  for (const row of rows ?? []) {
    const touched = touchedRow(row, mayHaveChanges);
    if (!touched) return undefined;
    found.push(touched);
  }
  return rows && found;
}

function touchedRow(row: unknown, mayHaveChanges: boolean): TouchedRow | undefined {
  if (!Array.isArray(row)) return undefined;
  // Nearly all rows: a frame may have thousands.
  if (row.length === 5) return spanOf(row, 3);
  if (row.length !== 6 || !mayHaveChanges) return undefined;
  const [touched, change] = [spanOf(row, 4), changeOf(row[3])];
  return touched && change && { ...touched, change };
}

/** Its two times begin there. */
function spanOf(row: readonly unknown[], timesAt: number): TouchedRow | undefined {
  const [environment, customerId, meterKey] = row;
  const [occurredFromMs, occurredToMs] = [row[timesAt], row[timesAt + 1]];
  if (
    typeof environment !== 'string' ||
    typeof customerId !== 'string' ||
    typeof meterKey !== 'string' ||
    typeof occurredFromMs !== 'number' ||
    typeof occurredToMs !== 'number'
  ) {
    return undefined;
  }
  return { environment, customerId, meterKey, occurredFromMs, occurredToMs };
}

/** Any other member is one that a later release has added: what it means is not known. */
const MEMBERS = new Set(['change', 'voids', 'of']);

function changeOf(member: unknown): ChangeRows | undefined {
  if (typeof member !== 'object' || member === null) return undefined;
  const { change, voids = false, of = 0 } = member as Record<string, unknown>;
  if (!isNumber(change) || change < 1 || !isNumber(of) || typeof voids !== 'boolean') return undefined;
  if (Object.keys(member).some((name) => !MEMBERS.has(name))) return undefined;
  return { number: change, voids, ...(of > 0 ? { of } : {}) };
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function parseArray(text: string): unknown[] | undefined {
  try {
    const rows: unknown = JSON.parse(text);
    return Array.isArray(rows) ? rows : undefined;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return undefined;
  }
}
