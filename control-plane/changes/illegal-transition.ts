import { Rejected } from '../../schemas/failures.ts';

/** The error for a status change that the transition table does not allow. */
export function illegalTransition(move: { from: string; to: string; legal: readonly string[] }): Rejected {
  const { from, to, legal } = move;
  const ways = legal.length === 0 ? 'this status is final' : `allowed: ${legal.join(' or ')}`;
  return new Rejected('illegal_transition', `Cannot change the status from ${from} to ${to}; ${ways}.`, {
    details: { from, to, legal },
  });
}
