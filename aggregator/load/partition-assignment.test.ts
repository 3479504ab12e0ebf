import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AUDIT_OF_LOG, WHOLE_LOG } from '../store/leases.ts';
import { assignPartitions } from './partition-assignment.ts';

test('one alone takes all; with a second half is given up, and what others hold is left', () => {
  expect(assignPartitions({ members: 1, held: [] }, 'a', 5).size).toBe(5);
  const held = [0, 1, 2, 3].map((partition) => ({ partition, owner: 'a' }));
  const kept = assignPartitions({ members: 2, held }, 'a', 4);
  expect([...kept]).toEqual([0, 1]);
  expect(assignPartitions({ members: 2, held }, 'b', 4).size).toBe(0);
});

// Red when the others do not give up what they hold, or the audit's own lease is taken for a partition.
test('the owner of the whole log has every partition, and the others have none', () => {
  const held = [
    { partition: AUDIT_OF_LOG, owner: 'b' },
    { partition: 0, owner: 'a' },
    { partition: 1, owner: 'b' },
  ];
  expect([...assignPartitions({ members: 2, held }, 'b', 2)]).toEqual([1]);
  const whole = [...held, { partition: WHOLE_LOG, owner: 'b' }];
  expect([...assignPartitions({ members: 2, held: whole }, 'b', 2)]).toEqual([0, 1]);
  expect(assignPartitions({ members: 2, held: whole }, 'a', 2).size).toBe(0);
});

// Red when a process wants another's partition, when a partition is unassigned, when one process has too
// many.
test('taking turns until nothing changes, all partitions are held, evenly and by one each', () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 20 }), (owners, partitions) => {
      let held: Array<{ partition: number; owner: string }> = [];
      for (let turn = 0; turn < 3 * owners.length; turn++) {
        const owner = owners[turn % owners.length] ?? '';
        const assigned = assignPartitions({ members: owners.length, held }, owner, partitions);
        const others = held.filter((one) => one.owner !== owner);
        expect(others.some(({ partition }) => assigned.has(partition))).toBe(false);
        held = [...others, ...[...assigned].map((partition) => ({ partition, owner }))];
      }
      expect(held.map(({ partition }) => partition).sort((a, b) => a - b)).toEqual([
        ...Array(partitions).keys(),
      ]);
      const counts = owners.map((owner) => held.filter((one) => one.owner === owner).length);
      expect(Math.max(...counts)).toBeLessThanOrEqual(Math.ceil(partitions / owners.length));
    }),
  );
});
