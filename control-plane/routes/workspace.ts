import { notifyChange } from '../../domain/store/notify-change.ts';
import { Defect } from '../../schemas/failures.ts';
import { environmentOf, splitEnvironment } from '../../schemas/primitives/environment.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Workspace } from '../../schemas/resources/workspace.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { recordChange } from '../changes/record-change.ts';
import { touchEntitlements } from '../entitlements/changes/touch-entitlements.ts';
import { requireMatch } from '../http/etag.ts';
import type { Handlers } from '../http/request-context.ts';
import { raiseCatalogueVersion } from '../store/entitlement-versions.ts';
import { findWorkspace, lockWorkspace, updateWorkspace, type WorkspaceRow } from '../store/workspace.ts';

type WorkspaceOperation = Extract<keyof Handlers, `workspace.${string}`>;

export const workspaceHandlers: Pick<Handlers, WorkspaceOperation> = {
  'workspace.retrieve': async ({ db, environment }) =>
    shownWorkspace(existing(await findWorkspace(db, environment)), environment),

  'workspace.update': async (context, { body }) => {
    const { db, environment } = context;
    const row = existing(await lockWorkspace(db, environment));
    const before = shownWorkspace(row, environment);
    requireMatch(context, before);
    const {
      name = row.name,
      strictMeters = row.strictMeters,
      pastDueGraceDays = row.pastDueGraceDays,
    } = body;
    const updated = existing(await updateWorkspace(db, row.id, { name, strictMeters, pastDueGraceDays }));
    const after = shownWorkspace(updated, environment);
    if (changedFields(before, after).length === 0) return after;
    // One workspace has two environments: the audit log of each must show the change.
    for (const mode of ['live', 'test'] as const) {
      const each = environmentOf(row.id, mode);
      const [was, is] = [shownWorkspace(row, each), shownWorkspace(updated, each)];
      await recordChange({ ...context, environment: each }, { objectId: row.id, before: was, after: is });
      await notifyChange(db, { kind: 'workspace', environment: each, id: row.id });
      await raiseCatalogueVersion(db, each);
      if (was.pastDueGraceDays === is.pastDueGraceDays) continue;
      await touchEntitlements({ ...context, environment: each }, 'past_due');
    }
    return after;
  },
};

function shownWorkspace(row: WorkspaceRow, environment: string): Workspace {
  const { id, name, strictMeters, pastDueGraceDays, firstApiCallAt, createdAt } = row;
  return {
    id,
    name,
    strictMeters,
    pastDueGraceDays,
    mode: splitEnvironment(environment).mode,
    ...(firstApiCallAt === null ? {} : { firstApiCallAt: timestampText(firstApiCallAt.getTime()) }),
    createdAt: timestampText(createdAt.getTime()),
  };
}

/** A key's environment always has one. */
function existing(row: WorkspaceRow | undefined): WorkspaceRow {
  if (!row) throw new Defect('an environment without a workspace');
  return row;
}
