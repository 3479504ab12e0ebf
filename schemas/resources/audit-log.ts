import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { NamedId, Nothing, optional, PageQuery, pageOf, Timestamp } from './fields.ts';

/** An object as an answer would have shown it; without secrets. */
const Snapshot = Type.Record(Type.String(), Type.Unknown());

export const AuditEntry = Type.Object({
  actor: Type.String({ description: 'The id of a key, or `operator`, `clock`, `processor`.' }),
  action: Type.String({ description: 'The operation id, as `plans.update`.' }),
  objectId: Type.String(),
  before: Type.Optional(Snapshot),
  after: Type.Optional(Snapshot),
  requestId: Type.Optional(Type.String({ description: 'The X-Request-Id of the request that did it.' })),
  createdAt: Timestamp,
});
export type AuditEntry = Static<typeof AuditEntry>;

export const auditLogRoutes = {
  'auditLog.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/audit-log`,
    plane: 'control',
    access: 'keys:manage',
    summary: 'List who changed what, newest first',
    description:
      'Of this environment, `before` and `after` without secrets; from ≤ createdAt < to. What is made has ' +
      'no `before`, what is deleted no `after`.',
    params: Nothing,
    query: Type.Object({
      ...PageQuery.properties,
      ...optional({
        from: Timestamp,
        to: Timestamp,
        actor: NamedId,
        action: NamedId,
        objectId: NamedId,
      }).properties,
    }),
    status: 200,
    response: pageOf(AuditEntry),
    errors: [],
  }),
};
