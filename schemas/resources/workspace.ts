import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { Name, Nothing, Timestamp } from './fields.ts';

const settings = {
  name: Name,
  strictMeters: Type.Boolean({
    description: 'Whether usage of an unknown meter is rejected. If false, the meter is created.',
  }),
  pastDueGraceDays: Type.Integer({
    minimum: 0,
    maximum: 365,
    description: 'Days for which a past-due subscription still entitles. Default: 14.',
  }),
};

export const Workspace = Type.Object({
  id: Type.String(),
  ...settings,
  name: Type.String(),
  mode: Type.Enum(['live', 'test'], { description: 'The mode of the API key that makes the request.' }),
  firstApiCallAt: Type.Optional(Timestamp),
  createdAt: Timestamp,
});
export type Workspace = Static<typeof Workspace>;

export const WorkspacePatch = Type.Partial(Type.Object(settings));

const one = {
  path: `${API_BASE}/workspace`,
  plane: 'control',
  params: Nothing,
  query: Nothing,
  status: 200,
  response: Workspace,
  etag: true,
} as const;

export const workspaceRoutes = {
  'workspace.retrieve': defineRoute({
    ...one,
    method: 'GET',
    access: 'any_key',
    summary: 'Retrieve the workspace of the API key',
    errors: [],
  }),
  'workspace.update': defineRoute({
    ...one,
    method: 'PATCH',
    access: 'subscriptions:write',
    summary: 'Update the settings of the workspace',
    description:
      'Fields left out keep their values. The settings apply to live and test mode, and the audit log of ' +
      'both contains the change.',
    body: WorkspacePatch,
    example: { name: 'Acme Billing', strictMeters: false, pastDueGraceDays: 14 },
    errors: ['precondition_failed'],
  }),
};
