/** What browsers load of the pricing widget, without a key. */
import { Type } from 'typebox';
import { defineRoute } from '../route.ts';
import { Nothing } from './fields.ts';

const page = { method: 'GET', plane: 'control', access: 'public', params: Nothing, query: Nothing } as const;

export const widgetRoutes = {
  'widget.script': defineRoute({
    ...page,
    path: '/widget/v1.js',
    summary: 'Retrieve the script that defines `<metergate-pricing>` and `<metergate-usage>`',
    status: 200,
    response: Type.String(),
    mediaTypes: ['text/javascript'],
    errors: ['not_found'],
  }),
  'widget.demo': defineRoute({
    ...page,
    path: '/demo/pricing',
    summary: "Show the demo workspace's plans on a page",
    description: 'In test mode. Only on an installation that has the demo workspace and its file of keys.',
    status: 200,
    response: Type.String(),
    mediaTypes: ['text/html'],
    errors: ['not_found'],
  }),
};
