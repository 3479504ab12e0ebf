import { NO_NUMBER, numberOf } from '../../design/typed-number.ts';

/** Decimal texts. */
export interface Thresholds {
  soft?: string;
  hard?: string;
}

/** Of what was typed, where empty is none. */
export function thresholdsOf(softText: string, hardText: string): Thresholds | { fault: string } {
  const [soft, hard] = [readThreshold(softText), readThreshold(hardText)];
  if (soft === null || hard === null) return { fault: NO_NUMBER };
  if (soft === undefined && hard === undefined) return { fault: 'Enter at least one threshold.' };
  if (soft !== undefined && hard !== undefined && Number(soft) > Number(hard)) {
    return { fault: 'The soft threshold must be at most the hard one.' };
  }
  return { ...(soft === undefined ? {} : { soft }), ...(hard === undefined ? {} : { hard }) };
}

/** Null: no number. */
function readThreshold(text: string): string | undefined | null {
  return text.trim() === '' ? undefined : (numberOf(text) ?? null);
}
