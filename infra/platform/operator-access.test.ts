import { expect, test } from 'vitest';
import { createOperatorAccess, type OperatorCaller } from './operator-access.ts';

const TOKEN = 'a-token-of-an-operator';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const ANONYMOUS = { authorization: undefined };

/** Red when nothing configured hides anything. */
test('every client sees everything unless it is configured otherwise', () => {
  expect(createOperatorAccess({}).rejectionOf(ANONYMOUS)).toBeUndefined();
});

/** Red when a part of the token, or another scheme, is taken. */
test('with METRICS_TOKEN only its bearer has access', () => {
  const access = createOperatorAccess({ metricsToken: TOKEN });
  const sees = (caller: OperatorCaller) => access.rejectionOf(caller) === undefined;
  const rejection = access.rejectionOf(ANONYMOUS);
  expect(sees(bearer(TOKEN))).toBe(true);
  expect(sees({ authorization: `bearer  ${TOKEN}` })).toBe(true);
  const others = ['', `Bearer `, TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`];
  for (const authorization of [undefined, ...others]) expect(sees({ authorization })).toBe(false);
  expect(rejection?.code).toBe('unauthenticated');
  expect(JSON.stringify(rejection)).not.toContain(TOKEN);
});

/** Red when the port is not looked at. */
test('with METRICS_PORT they are on that port alone, under the token where one is set as well', () => {
  const moved = createOperatorAccess({ metricsPort: 9100 });
  expect(moved.rejectionOf(ANONYMOUS)).toBeDefined();
  expect(moved.rejectionOf({ ...ANONYMOUS, localPort: 8080 })).toBeDefined();
  expect(moved.rejectionOf({ ...ANONYMOUS, localPort: 9100 })).toBeUndefined();
  expect(moved.rejectionOf(ANONYMOUS)?.code).toBe('not_found');
  const both = createOperatorAccess({ metricsPort: 9100, metricsToken: TOKEN });
  expect(both.rejectionOf({ ...bearer(TOKEN), localPort: 8080 })?.code).toBe('not_found');
  expect(both.rejectionOf({ ...ANONYMOUS, localPort: 9100 })?.code).toBe('unauthenticated');
  expect(both.rejectionOf({ ...bearer(TOKEN), localPort: 9100 })).toBeUndefined();
});

/** Red when the data plane cannot read the control side any more. */
test('processes of one Metergate read each other under a token of their own', () => {
  const { rejectionOf } = createOperatorAccess({ metricsPort: 9100, metricsToken: TOKEN }, 'own');
  expect(rejectionOf(bearer('own'))).toBeUndefined();
  expect(createOperatorAccess({ metricsPort: 9100 }).rejectionOf(bearer('undefined'))).toBeDefined();
});
