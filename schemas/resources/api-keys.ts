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
  last4: Type.String({ description: 'The last four characters of the key.' }),
  status: Status,
  createdBy: Type.String({ description: 'The id of the API key that created it, or `operator`.' }),
  createdAt: Timestamp,
  expiresAt: Type.Optional(Timestamp),
  revokedAt: Type.Optional(Timestamp),
  rotatedTo: Type.Optional(Type.String({ description: 'The id of the key that replaces it.' })),
  lastUsedAt: Type.Optional(
    Type.String({ ...Timestamp, description: 'When the key was last used, up to one minute late.' }),
  ),
});
export type ApiKey = Static<typeof ApiKey>;

/** The only responses that contain a key's text. */
export const ApiKeyWithText = Type.Object({
  ...ApiKey.properties,
  key: Type.String({ description: 'The text of the API key. It is returned only once.' }),
});

export const NewApiKey = Type.Object({
  kind: Kind,
  scopes: Type.Optional(
    Type.Array(Type.Enum([...SCOPES, EVERY_SCOPE]), {
      maxItems: SCOPES.length + 1,
      uniqueItems: true,
      description:
        'The scopes of a secret key, at least one; `*` grants all of them. A publishable key has none.',
    }),
  ),
  name: Type.Optional(Name),
  expiresAt: Type.Optional(
    Type.String({
      ...Timestamp,
      description: 'When the key expires. Must be in the future. Default: never.',
    }),
  ),
});
export type NewApiKey = Static<typeof NewApiKey>;

const OVERLAP_SECONDS_MAX = 2_592_000;

export const ApiKeyRotation = optional({
  overlapSeconds: Type.Integer({
    minimum: 0,
    maximum: OVERLAP_SECONDS_MAX,
    description:
      'Seconds for which the old key stays valid. Default: one day. Maximum: 30 days. 0 revokes it at once.',
  }),
});

const Params = Type.Object({ keyId: NamedId });

const common = { plane: 'control', access: 'keys:manage', query: Nothing } as const;

export const apiKeyRoutes = {
  'apiKeys.list': defineRoute({
    ...common,
    method: 'GET',
    path: `${API_BASE}/api-keys`,
    summary: 'List the API keys of the environment, newest first',
    description: 'Includes expired and revoked keys.',
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
    returnsCredential: true,
    summary: 'Create an API key',
    description:
      'The new key belongs to the environment of the key that makes the request, which can only grant ' +
      'scopes that it has itself. Only this response, and its replay by `Idempotency-Key`, contains the ' +
      'text of the new key.',
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
    summary: 'Retrieve an API key, without its text',
    params: Params,
    status: 200,
    response: ApiKey,
    errors: ['not_found'],
  }),
  'apiKeys.rotate': defineRoute({
    ...common,
    method: 'POST',
    path: `${API_BASE}/api-keys/{keyId}/rotate`,
    returnsCredential: true,
    summary: 'Rotate an API key',
    description:
      'Creates a key with the name, scopes and expiry of the old one; the response contains its text, ' +
      'once. The old key stays valid for `overlapSeconds`, but not beyond its own expiry. Only an active ' +
      'key that was not rotated before can be rotated, and only by a key that has all of its scopes. A ' +
      'key can rotate itself.',
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
    summary: 'Revoke an API key',
    description:
      'Requests with a revoked key get 401 `key_revoked`, on every instance within 10 seconds. The key ' +
      'stays in the list and cannot be restored. A key can revoke every key of its environment, itself ' +
      'included. Revoking a revoked key changes nothing.',
    params: Params,
    status: 204,
    response: Nothing,
    errors: ['not_found'],
  }),
};
