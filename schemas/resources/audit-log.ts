import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { AnyName, NamedId, Nothing, optional, PageQuery, pageOf, Timestamp } from './fields.ts';

/** An object as a response would have shown it, without secrets. */
const Snapshot = Type.Record(AnyName, Type.Unknown());

export const AuditEntry = Type.Object({
  actor: Type.String({
    description: 'The id of the API key that made the change, or `operator`, `clock` or `processor`.',
  }),
  action: Type.String({ description: 'The operation id, for example `plans.update`.' }),
  objectId: Type.String(),
  before: Type.Optional(Snapshot),
  after: Type.Optional(Snapshot),
  requestId: Type.Optional(
    Type.String({ description: 'The `X-Request-Id` of the request that made the change.' }),
  ),
  createdAt: Timestamp,
});
export type AuditEntry = Static<typeof AuditEntry>;

export const auditLogRoutes = {
  'auditLog.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/audit-log`,
    plane: 'control',
    access: 'keys:manage',
    summary: 'List the audit log, newest first',
    description:
      'The changes of the environment with from ≤ createdAt < to. `before` and `after` are the object ' +
      'without its secrets. A created object has no `before`, a deleted one no `after`.',
    params: Nothing,
    query: Type.Object({
      ...PageQuery.properties,
      ...optional({
        from: Timestamp,
        to: Timestamp,
        actor: NamedId,
        action: NamedId,
        objectId: NamedId,
        customerId: Type.String({
          ...NamedId,
          description:
            "The customer's id or your own `externalId`: changes of the customer and of its subscriptions, " +
            'overrides, budgets and credits.',
        }),
      }).properties,
    }),
    status: 200,
    response: pageOf(AuditEntry),
    errors: [],
  }),
};
