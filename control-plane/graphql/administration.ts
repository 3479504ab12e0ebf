import { shownApiKey } from '../../domain/api-keys.ts';
import type { ApiKeyRow } from '../../domain/store/api-keys.ts';
import { shownAuditEntry } from '../routes/audit-log.ts';
import { keyList } from '../store/api-keys.ts';
import { auditList } from '../store/audit-log.ts';
import { openSpan } from '../usage/window.ts';
import { connectionType, costOfList, pageArgs, rootPage } from './connections.ts';
import { enumOf } from './resource-fields.ts';
import { ApiKey, AuditEntry, Funnel, Workspace } from './resource-types.ts';
import { checkedQuery, readAs } from './rest-reads.ts';
import { builder } from './schema-builder.ts';

const KeyKind = enumOf('ApiKeyKind', ['secret', 'publishable']);
const KeyStatus = enumOf('ApiKeyStatus', ['active', 'expired', 'revoked']);

const HealthCheck = builder
  .objectRef<{ name: string; ok: boolean; detail: string }>('HealthCheck')
  .implement({
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false }),
      ok: t.exposeBoolean('ok', { nullable: false }),
      detail: t.exposeString('detail', { nullable: false }),
    }),
  });

interface ShownHealth {
  status: string;
  checks?: Record<string, { ok: boolean; detail: string }> | undefined;
}

const Health = builder.objectRef<ShownHealth>('Health').implement({
  description: 'Whether the control plane and what it depends on are ready, as `/readyz` says it.',
  fields: (t) => ({
    status: t.field({
      type: enumOf('HealthStatus', ['ready', 'not_ready']),
      nullable: false,
      resolve: ({ status }) => status,
    }),
    checks: t.field({
      type: [HealthCheck],
      description: 'null when `METRICS_PORT` or `METRICS_TOKEN` is set: they are then for operators alone.',
      resolve: ({ checks }) => checks && Object.entries(checks).map(([name, one]) => ({ name, ...one })),
    }),
  }),
});

const AuditLog = connectionType('AuditLog', AuditEntry);
const ApiKeys = connectionType('ApiKey', ApiKey);

/** Each has an object before and after the change. */
const ENTRY_COST = 10;

builder.queryFields((t) => ({
  workspace: t.field({
    type: Workspace,
    authScopes: { as: 'workspace.retrieve' },
    resolve: (_, _args, context) => readAs(context, 'workspace.retrieve', {}),
  }),
  health: t.field({
    type: Health,
    authScopes: { as: 'service.readiness' },
    complexity: 20,
    resolve: (_, _args, { deps, headers }) => deps.readiness({ authorization: headers.authorization }),
  }),
  auditLog: t.field({
    type: AuditLog,
    description: 'Newest first.',
    authScopes: { as: 'auditLog.list' },
    args: {
      ...pageArgs,
      from: t.arg.string(),
      to: t.arg.string({ description: 'Exclusive.' }),
      actor: t.arg.id(),
      action: t.arg.string({ description: 'An operation id, for example `plans.update`.' }),
      objectId: t.arg.id(),
      customerId: t.arg.id({ description: 'Also the changes of what the customer has.' }),
    },
    complexity: costOfList(ENTRY_COST),
    resolve: (_, args, context) => {
      const { from, to, ...filter } = checkedQuery('auditLog.list', args);
      const span = openSpan({ ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) });
      const list = auditList(context.environment, { ...filter, span });
      return rootPage(context, { name: 'auditLog', list, shown: shownAuditEntry }, args);
    },
  }),
}));

builder.queryFields((t) => ({
  apiKeys: t.field({
    type: ApiKeys,
    description: 'Newest first, without their texts.',
    authScopes: { as: 'apiKeys.list' },
    args: { ...pageArgs, kind: t.arg({ type: KeyKind }), status: t.arg({ type: KeyStatus }) },
    complexity: costOfList(),
    resolve: (_, args, context) => {
      const { environment, nowMs } = context;
      const filter = checkedQuery('apiKeys.list', args as object);
      const list = keyList(environment, { ...filter, now: new Date(nowMs) });
      const shown = (row: ApiKeyRow) => shownApiKey(row, nowMs);
      return rootPage(context, { name: 'apiKeys', list, shown }, args);
    },
  }),
  apiKey: t.field({
    type: ApiKey,
    authScopes: { as: 'apiKeys.retrieve' },
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, context) => readAs(context, 'apiKeys.retrieve', { params: { keyId: id } }),
  }),
  funnel: t.field({
    type: Funnel,
    description: 'Sessions that saw the pricing widget, started a checkout and subscribed.',
    authScopes: { as: 'funnel.retrieve' },
    args: { from: t.arg.string(), to: t.arg.string({ description: 'Exclusive.' }), planId: t.arg.id() },
    complexity: 20,
    resolve: (_, query, context) => readAs(context, 'funnel.retrieve', { query }),
  }),
}));
