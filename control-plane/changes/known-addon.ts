import { Rejected } from '../../schemas/failures.ts';
import type { RequestContext } from '../http/request-context.ts';
import { type AddonRow, findAddon } from '../store/addons.ts';

/** By id or key. Throws Rejected `not_found`. */
export async function knownAddon({ db, environment }: RequestContext, name: string): Promise<AddonRow> {
  const row = await findAddon(db, environment, name);
  if (row) return row;
  throw new Rejected('not_found', `There is no add-on ${name}.`, { param: 'addonId' });
}
