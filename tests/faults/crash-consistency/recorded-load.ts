import { bytesOf, type SystemCall } from '../../support/system-calls.ts';
import type { DiskHistory, DiskNode } from './disk-history.ts';

/** When Postgres was requested to mark a range as loaded: by then the warehouse must have it durably. */
export function loadedMarks(calls: SystemCall[]): number[] {
  return calls.filter((call) => notifies(call, "SET state = 'loaded'")).map(({ began }) => began);
}

function notifies(call: SystemCall, text: string): boolean {
  return (
    /^(write|writev|sendto)$/.test(call.name) && call.args.includes(text) && bytesOf(call).includes(text)
  );
}

/** An insert's part: of a month, and not merged yet. */
const PART = /^\d{6}_\d+_\d+_0$/;

/** Every requested mark while a power cut could still take a part that was inserted before. */
export function hastyMarks({ renamings }: DiskHistory, marks: number[]): string[] {
  const parts = renamings.flatMap((change) => {
    const [, to] = change.names;
    return to?.node?.kind === 'folder' && PART.test(to.name) ? [{ ...change, to: to.node }] : [];
  });
  if (marks.length === 0) return ['no range was marked as loaded'];
  return marks.flatMap((time, earlierMarks) => {
    const before = parts.filter(({ ended }) => ended < time);
    if (before.length <= earlierMarks) {
      return [`marked loaded at ${time} as number ${earlierMarks + 1}, with ${before.length} parts inserted`];
    }
    const hasty = before.filter((part) => Math.max(part.durable, durableAt(part.to)) > time);
    const part = hasty[0]?.names[1]?.name;
    return hasty.length > 0 ? [`marked loaded at ${time}, and ${hasty.length} parts were not: ${part}`] : [];
  });
}

/** From when on all that a part's folder holds is durable. */
function durableAt(node: DiskNode): number {
  if (node.kind === 'file') return Math.max(0, ...node.changes.map(({ durable }) => durable));
  return node.kind === 'folder' ? Math.max(0, ...[...node.now.values()].map(durableAt)) : 0;
}
