import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { startFront } from '../infra/conformance/front-under-test.ts';
import { createNodeFront } from '../infra/http/node-front.ts';
import { createOperatorAccess } from '../infra/operator-access.ts';
import { Readiness } from '../schemas/resources/service.ts';
import { startUpstream } from './forwarder-under-test.ts';
import { createOperations } from './operations.ts';

/*
 * /readyz of the public port. Red when an answer has a field that its schema does not name, or lacks one that
 * it requires.
 */
const CONTROL = { status: 'ready', checks: { postgres: { ok: true, detail: 'ok' } } };

it.each([
  ['both planes are ready', CONTROL, {}, 200, { ...CONTROL, dataPlane: 'ok' }],
  [
    'the data plane takes no events',
    CONTROL,
    { keys: 'are read' },
    503,
    { ...CONTROL, status: 'not_ready', dataPlane: { keys: 'are read' } },
  ],
  [
    'the control plane is away',
    undefined,
    {},
    503,
    { status: 'not_ready', checks: { control: { ok: false, detail: 'is away' } }, dataPlane: 'ok' },
  ],
])('says that %s, in the fields of its schema', async (...row) => {
  const [, control, obstacles, status, body] = row;
  const upstream = control && (await startUpstream((_req, res) => res.end(JSON.stringify(control))));
  const operations = createOperations({
    metrics: new Registry(),
    controlUrl: () => upstream,
    obstacles: () => obstacles,
  });
  const { url } = await startFront(createNodeFront, (exchange) => void operations(exchange));
  const answer = await fetch(`${url}/readyz`);
  const answered = (await answer.json()) as object;
  expect({ status: answer.status, body: answered }).toEqual({ status, body });
  expect(Object.keys(Readiness.properties)).toEqual(expect.arrayContaining(Object.keys(answered)));
  expect(Object.keys(answered)).toEqual(expect.arrayContaining(Readiness.required));
});

/** Red when the control plane's part, or the name of what is in the way, is shown to everybody. */
it('shows a bare status, and no metrics, to who may not see more', async () => {
  const shown: Array<string | undefined> = [];
  const upstream = await startUpstream((req, res) => {
    shown.push(req.headers.authorization);
    res.end(JSON.stringify(CONTROL));
  });
  const operations = createOperations({
    metrics: new Registry(),
    controlUrl: () => upstream,
    obstacles: () => ({ disk: 'is nearly full' }),
    access: createOperatorAccess({ metricsToken: 'a-token-of-an-operator' }),
    controlToken: () => 'own',
  });
  const { url } = await startFront(createNodeFront, (exchange) => void operations(exchange));
  const bare = await fetch(`${url}/readyz`);
  expect([bare.status, await bare.json()]).toEqual([503, { status: 'not_ready' }]);
  const refused = await fetch(`${url}/metrics`);
  expect([refused.status, await refused.json()]).toMatchObject([401, { error: { code: 'unauthenticated' } }]);
  expect((await fetch(`${url}/metrics`, { method: 'HEAD' })).status).toBe(401);
  const headers = { authorization: 'Bearer a-token-of-an-operator' };
  const whole = await fetch(`${url}/readyz`, { headers });
  expect(await whole.json()).toMatchObject({
    ...CONTROL,
    status: 'not_ready',
    dataPlane: { disk: expect.any(String) },
  });
  expect((await fetch(`${url}/metrics`, { headers })).status).toBe(200);
  expect(new Set(shown)).toEqual(new Set(['Bearer own']));
});
