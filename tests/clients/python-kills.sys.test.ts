import { expect, it } from 'vitest';
import { keptShortForm } from '../faults/short-form.ts';
import { clientKilled } from './client-kill-rounds.ts';
import { PYTHON_CLIENT } from './python-client.ts';
import { runPython } from './python3.ts';

/** The short form of promise 23 for Python. */
it('what killed Python programs tracked into a spool is counted once', async () => {
  // It says what is missing where there is no Python.
  expect(runPython({ args: ['--version'], timeoutMs: 10_000 }).status).toBe(0);
  const { counts } = await keptShortForm(clientKilled(PYTHON_CLIENT));
  expect(counts.kills).toBe(5);
  // How many more depends on the machine: each process is killed when it has tracked one, or later.
  expect(counts.eventsTracked).toBeGreaterThanOrEqual(5);
  expect(counts.faults).toBeGreaterThan(0);
});
