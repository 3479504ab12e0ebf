import { Rejected } from '../../schemas/failures.ts';

/** A status that cannot be left for the one that is asked for. */
export function illegalTransition(move: { from: string; to: string; legal: readonly string[] }): Rejected {
  const { from, to, legal } = move;
  const ways = legal.length === 0 ? 'it stays so' : `it may become ${legal.join(' or ')}`;
  return new Rejected('illegal_transition', `What is ${from} cannot become ${to}: ${ways}.`, {
    details: { from, to, legal },
  });
}
