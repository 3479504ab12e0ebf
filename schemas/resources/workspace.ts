import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { Name, Nothing, Timestamp } from './fields.ts';

const settings = {
  name: Name,
  strictMeters: Type.Boolean({ description: 'Usage of an unknown meter is refused: no meter makes itself.' }),
  pastDueGraceDays: Type.Integer({
    minimum: 0,
    maximum: 365,
    description: 'How long a past-due subscription still counts. 14 unless it is set.',
  }),
};

export const Workspace = Type.Object({
  id: Type.String(),
  ...settings,
  name: Type.String(),
  mode: Type.Enum(['live', 'test'], { description: 'Of the key that asks.' }),
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
    summary: 'Read the workspace of this key',
    errors: [],
  }),
  'workspace.update': defineRoute({
    ...one,
    method: 'PATCH',
    access: 'subscriptions:write',
    summary: 'Change the settings of the workspace',
    description:
      'What is left out stays. The settings hold for live and test mode alike, and the audit log of both ' +
      'tells of the change.',
    body: WorkspacePatch,
    example: { name: 'Acme Billing', strictMeters: false, pastDueGraceDays: 14 },
    errors: ['precondition_failed'],
  }),
};
