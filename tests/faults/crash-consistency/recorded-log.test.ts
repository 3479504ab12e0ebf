import { expect, it } from 'vitest';
import { type NameChange, newFolder } from './disk-history.ts';
import { hastyMarks } from './recorded-log.ts';

const root = newFolder();

/** An insert's part that gets its name, and the time from which on that is durable. */
function partNamed(name: string, { ended, durable }: { ended: number; durable: number }): NameChange {
  const names = [
    { folder: root, name: `tmp_insert_${name}`, node: undefined },
    { folder: root, name, node: newFolder() },
  ];
  return { names, journal: root.journal, began: ended - 1, ended, durable };
}

const first = partNamed('202611_1_1_0', { ended: 10, durable: 20 });

it('a range is marked loaded in time when its part is durable before', () => {
  expect(hastyMarks({ root, renamings: [first] }, [21])).toEqual([]);
  expect(hastyMarks({ root, renamings: [first] }, [19])).toHaveLength(1);
});

it('a recording that shows no mark, or fewer parts than marks, is a fault of its own', () => {
  expect(hastyMarks({ root, renamings: [first] }, [])).toEqual(['no range was marked as loaded']);
  expect(hastyMarks({ root, renamings: [] }, [21])).toHaveLength(1);
  expect(hastyMarks({ root, renamings: [first] }, [21, 30])).toEqual([
    'marked loaded at 30 as number 2, with 1 parts inserted',
  ]);
});
