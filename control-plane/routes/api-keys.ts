import { apiKeyStatus, makeApiKey, shownApiKey } from '../../domain/api-keys.ts';
import { type ApiKeyRow, endApiKey, type KeyEnd } from '../../domain/store/api-keys.ts';
import { notifyChange } from '../../domain/store/notify-change.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { timestampMs } from '../../schemas/primitives/timestamp.ts';
import type { NewApiKey } from '../../schemas/resources/api-keys.ts';
import { EVERY_SCOPE } from '../../schemas/scopes.ts';
import { recordChange } from '../changes/record-change.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { findKey, listKeys, lockKey } from '../store/api-keys.ts';

type ApiKeyOperation = Extract<keyof Handlers, `apiKeys.${string}`>;

export function createApiKeyHandlers({ keyPepper }: { keyPepper: Buffer }): Pick<Handlers, ApiKeyOperation> {
  return {
    'apiKeys.list': async ({ db, environment, nowMs }, { query }) => {
      const { rows, total } = await listKeys(db, environment, { ...query, now: new Date(nowMs) });
      return pageOf(
        rows.map((row) => shownApiKey(row, nowMs)),
        total,
        query,
      );
    },

    'apiKeys.create': async (context, { body }) => {
      const { db, environment, actor: createdBy, nowMs } = context;
      const { kind, name = null } = body;
      const scopes = wantedScopes(body);
      const expiresAt = endOf(body, nowMs);
      checkGrant(context, scopes);
      const spec = { environment, kind, scopes, name, expiresAt, createdBy, nowMs };
      const { key, row } = await makeApiKey(db, spec, keyPepper);
      const after = shownApiKey(row, nowMs);
      await recordChange(context, { objectId: row.id, after });
      return { ...after, key };
    },

    'apiKeys.retrieve': async ({ db, environment, nowMs }, { params }) => {
      return shownApiKey((await findKey(db, environment, params.keyId)) ?? notFound(params.keyId), nowMs);
    },

    'apiKeys.rotate': async (context, { params, body }) => {
      const { db, environment, actor: createdBy, nowMs } = context;
      const old = (await lockKey(db, environment, params.keyId)) ?? notFound(params.keyId);
      checkGrant(context, old.scopes);
      checkRotatable(old, nowMs);
      const { kind, scopes, name, expiresAt } = old;
      const spec = { environment, kind, scopes, name, expiresAt, createdBy, nowMs };
      const { key, row } = await makeApiKey(db, spec, keyPepper);
      const after = shownApiKey(row, nowMs);
      await recordChange(context, { objectId: row.id, after });
      await end(context, old, { ...endAfter(old, nowMs, body.overlapSeconds), rotatedTo: row.id });
      return { ...after, key };
    },

    'apiKeys.revoke': async (context, { params }) => {
      const row = (await lockKey(context.db, context.environment, params.keyId)) ?? notFound(params.keyId);
      if (row.revokedAt !== null) return {};
      await end(context, row, { ...row, revokedAt: new Date(context.nowMs) });
      return {};
    },
  };
}

/** Notifies every cache of keys. */
async function end(context: RequestContext, row: ApiKeyRow, how: KeyEnd): Promise<void> {
  const { db, environment, nowMs } = context;
  const ended = await endApiKey(db, row, how);
  if (!ended) throw new Defect('a locked key is missing');
  const [before, after] = [shownApiKey(row, nowMs), shownApiKey(ended, nowMs)];
  await recordChange(context, { objectId: row.id, before, after });
  await notifyChange(db, { kind: 'key', environment, id: row.id });
}

const OVERLAP_SECONDS = 86_400;

/** Without an overlap it is revoked, so that the clock of another machine does not matter. */
function endAfter(
  { expiresAt, revokedAt }: ApiKeyRow,
  nowMs: number,
  overlapSeconds = OVERLAP_SECONDS,
): Pick<KeyEnd, 'expiresAt' | 'revokedAt'> {
  if (overlapSeconds === 0) return { expiresAt, revokedAt: new Date(nowMs) };
  const overlapEndMs = nowMs + overlapSeconds * 1_000;
  return { expiresAt: new Date(Math.min(overlapEndMs, expiresAt?.getTime() ?? overlapEndMs)), revokedAt };
}

function wantedScopes({ kind, scopes = [] }: NewApiKey): string[] {
  if (kind === 'publishable' && scopes.length > 0) {
    throw rejected(
      'scopes',
      'must be empty for a publishable key, which may only post funnel events and read the pricing',
    );
  }
  if (kind === 'secret' && scopes.length === 0) {
    throw rejected('scopes', 'must contain at least one scope for a secret key');
  }
  return scopes;
}

/** Also for a rotation: its response shows a key with these scopes. */
function checkGrant({ scopes: own }: RequestContext, wanted: string[]): void {
  const missing = wanted.filter((scope) => !own.includes(scope));
  // mutant: grant-not-checked
  if (missing.length === 0 || own.includes(EVERY_SCOPE)) return;
  const message = `An API key cannot grant scopes that it does not have: ${missing.join(', ')}.`;
  throw new Rejected('insufficient_scope', message, { param: 'scopes', details: { missing } });
}

function endOf({ expiresAt }: NewApiKey, nowMs: number): Date | null {
  if (expiresAt === undefined) return null;
  const ms = timestampMs(expiresAt) ?? Number.NaN;
  if (!(ms > nowMs)) throw rejected('expiresAt', 'must be in the future');
  return new Date(ms);
}

function checkRotatable(row: ApiKeyRow, nowMs: number): void {
  const from = row.rotatedTo === null ? apiKeyStatus(row, nowMs) : 'rotated';
  if (from === 'active') return;
  const remedy = row.rotatedTo === null ? 'create a new one' : `rotate its successor ${row.rotatedTo}`;
  throw new Rejected('illegal_transition', `This API key is already ${from}; ${remedy}.`, {
    details: { from, to: 'rotated', legal: [] },
  });
}

function notFound(id: string): never {
  throw new Rejected('not_found', `There is no API key ${id}.`, { param: 'keyId' });
}

function rejected(param: string, reason: string): Rejected {
  return new Rejected('invalid_request', `\`${param}\` ${reason}.`, { param });
}
