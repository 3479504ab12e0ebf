import { Rejected } from '../../schemas/failures.ts';
import type { Access, Route } from '../../schemas/route.ts';
import { EVERY_SCOPE } from '../../schemas/scopes.ts';

/** The operation for which a caller is authorised, with the parameters of its path. */
export interface Requested {
  route: Pick<Route, 'access' | 'customerToken'>;
  params: Record<string, string>;
}

/** Throws Rejected `insufficient_scope`. */
export function checkScope(scopes: readonly string[], access: Access): void {
  if (access === 'any_key' || access === 'publishable') return;
  // mutant: scope-not-checked
  if (scopes.includes(access) || scopes.includes(EVERY_SCOPE)) return;
  throw new Rejected('insufficient_scope', `This operation needs the scope ${access}.`);
}
