import { Value } from 'typebox/value';
import { expect, it } from 'vitest';
import { type OperationId, ROUTES } from '../../schemas/routes.ts';
import { FIRST } from './first-objects.ts';

/** Red when a reader who copies the command gets an error. */
it.each(Object.entries(FIRST))(
  'the first %s is made by a request of the API',
  (_, { operationId, request }) => {
    const route = ROUTES[operationId as OperationId];
    expect(request).toMatchObject({ method: route.method, path: route.path });
    if (!('body' in route)) throw new TypeError('an operation without a body');
    expect([...Value.Errors(route.body, request.body)]).toEqual([]);
  },
);
