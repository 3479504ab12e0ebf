/** A few at once: enough that one waits for the disk while another is worked on. */
const AT_ONCE = 5;

/** Does something with each item, a few of them at once. An error is thrown once its group has ended. */
export async function inGroups<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const outcomes = await Promise.allSettled(items.slice(from, from + AT_ONCE).map(act));
    const failed = outcomes.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}
