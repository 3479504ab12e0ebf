import { expect, it } from 'vitest';
import { auditFaults } from './audit-of.ts';

it('an audit is sound that compared hours and found no difference', () => {
  expect(auditFaults('12 hours compared, 0 differences.\n')).toEqual([]);
});

it.each([
  'usage_hourly of acme/calls at 12:00: 3 events, stored are 2\n12 hours compared, 1 differences.\n',
  '0 hours compared, 0 differences.\n',
  '12 hours compared, 10 differences.\n',
  'No Metergate runs on there: start it first.\n',
  '',
])('an audit is not sound that says %j', (output) => {
  expect(auditFaults(output)[0]).toBe(`the audit says: ${output.trim().split('\n').at(-1)}`);
});

it('an audit of fewer hours than there must be is not sound', () => {
  expect(auditFaults('99 hours compared, 0 differences.\n', { hoursMin: 99 })).toEqual([]);
  expect(auditFaults('99 hours compared, 0 differences.\n', { hoursMin: 100 })).toHaveLength(1);
});
