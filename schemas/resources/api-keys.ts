import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { EVERY_SCOPE, SCOPES } from '../scopes.ts';
import { Name, NamedId, Nothing, optional, PageQuery, pageOf, Timestamp } from './fields.ts';

const Kind = Type.Enum(['secret', 'publishable']);

const Status = Type.Enum(['active', 'expired', 'revoked']);

export const ApiKey = Type.Object({
  id: Type.String(),
  kind: Kind,
  mode: Type.Enum(['live', 'test']),
  name: Type.Optional(Type.String()),
  scopes: Type.Array(Type.String()),
  last4: Type.String({ description: 'The end of its text, to tell it from others.' }),
  status: Status,
  createdBy: Type.String({ description: 'The id of a key, or `operator`.' }),
  createdAt: Timestamp,
  expiresAt: Type.Optional(Timestamp),
  revokedAt: Type.Optional(Timestamp),
  rotatedTo: Type.Optional(Type.String({ description: 'The id of its successor.' })),
  lastUsedAt: Type.Optional(Type.String({ ...Timestamp, description: 'Behind by up to a minute.' })),
});
export type ApiKey = Static<typeof ApiKey>;

/** The only answers that hold a key's text. */
export const ApiKeyWithText = Type.Object({
  ...ApiKey.properties,
  key: Type.String({ description: 'Its text. It is shown this once and stored nowhere.' }),
});

export const NewApiKey = Type.Object({
  kind: Kind,
  scopes: Type.Optional(
    Type.Array(Type.Enum([...SCOPES, EVERY_SCOPE]), {
      maxItems: SCOPES.length + 1,
      uniqueItems: true,
      description: 'What a secret key may do, at least one; `*` is everything. A publishable key has none.',
    }),
  ),
  name: Type.Optional(Name),
  expiresAt: Type.Optional(Type.String({ ...Timestamp, description: 'In the future.' })),
});
export type NewApiKey = Static<typeof NewApiKey>;

const OVERLAP_SECONDS_MAX = 2_592_000;

export const ApiKeyRotation = optional({
  overlapSeconds: Type.Integer({
    minimum: 0,
    maximum: OVERLAP_SECONDS_MAX,
    description: 'How long the old key lives on: a day unless told, 30 days at most. 0 revokes it at once.',
  }),
});

const Params = Type.Object({ keyId: NamedId });

const common = { plane: 'control', access: 'keys:manage', query: Nothing } as const;

export const apiKeyRoutes = {
  'apiKeys.list': defineRoute({
    ...common,
    method: 'GET',
    path: `${API_BASE}/api-keys`,
    summary: 'List the keys of this environment, newest first',
    description: 'Those that expired or were revoked stay in the list.',
    params: Nothing,
    query: Type.Object({ ...PageQuery.properties, ...optional({ kind: Kind, status: Status }).properties }),
    status: 200,
    response: pageOf(ApiKey),
    errors: [],
  }),
  'apiKeys.create': defineRoute({
    ...common,
    method: 'POST',
    path: `${API_BASE}/api-keys`,
    summary: 'Make a key',
    description:
      'Always in the environment of the key that asks, which cannot give scopes that it does not hold. The ' +
      'answer, and its replay by Idempotency-Key, is the only one that shows the text of the new key.',
    params: Nothing,
    body: NewApiKey,
    example: { kind: 'secret', scopes: ['usage:write', 'usage:read'], name: 'Ingest of the web shop' },
    status: 201,
    response: ApiKeyWithText,
    errors: ['insufficient_scope'],
  }),
  'apiKeys.retrieve': defineRoute({
    ...common,
    method: 'GET',
    path: `${API_BASE}/api-keys/{keyId}`,
    summary: 'Read a key, without its text',
    params: Params,
    status: 200,
    response: ApiKey,
    errors: ['not_found'],
  }),
  'apiKeys.rotate': defineRoute({
    ...common,
    method: 'POST',
    path: `${API_BASE}/api-keys/{keyId}/rotate`,
    summary: 'Replace a key by a new one',
    description:
      'The new key has the name, the scopes and the end of the old one and is shown this once. The old ' +
      'one lives on for the overlap, though never beyond its own end. Only an active key that was not ' +
      'rotated yet can be rotated, and only by a key that holds all its scopes; a key may rotate itself.',
    params: Params,
    body: ApiKeyRotation,
    bodyOptional: true,
    example: { overlapSeconds: 3600 },
    status: 200,
    response: ApiKeyWithText,
    errors: ['not_found', 'insufficient_scope', 'illegal_transition'],
  }),
  'apiKeys.revoke': defineRoute({
    ...common,
    method: 'DELETE',
    path: `${API_BASE}/api-keys/{keyId}`,
    summary: 'Revoke a key for ever',
    description:
      'Refused everywhere within 10 seconds. It stays in the list. A key may revoke any key of its ' +
      'environment, itself too: whoever finds that a key leaked can end it. To revoke what is revoked ' +
      'changes nothing.',
    params: Params,
    status: 204,
    response: Nothing,
    errors: ['not_found'],
  }),
};
