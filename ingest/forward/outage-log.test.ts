import { expect, it } from 'vitest';
import { keptLog } from '../../infra/ports/conformance/front-under-test.ts';
import { createOutageLog } from './outage-log.ts';

/* Mutants that turn it red: no rate; an outage is never logged because it began soon after another. */
it('an outage is logged once in ten seconds, and one that lasts is logged', () => {
  const { log, lines } = keptLog();
  const clock = { ms: 0 };
  const report = createOutageLog(log, () => clock.ms);
  const messages = () => lines.splice(0).map(({ msg }) => msg);
  for (let at = 0; at < 100; at += 1) {
    report(new Error('unavailable'));
    report(undefined);
  }
  expect(messages()).toEqual(['the control plane does not respond', 'the control plane responds again']);
  clock.ms = 9_999;
  report(new Error('unavailable'));
  expect(messages()).toEqual([]);
  clock.ms = 10_000;
  report(new Error('unavailable'));
  report(new Error('unavailable'));
  expect(lines).toMatchObject([{ level: 40, leftOut: 100 }]);
  messages();
  report(undefined);
  report(undefined);
  expect(messages()).toEqual(['the control plane responds again']);
});
