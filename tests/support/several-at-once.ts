/** Acts on each, in their order, with so many under way. Rejects with the first that does. */
export async function severalAtOnce<T>(
  items: Iterable<T>,
  atOnce: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const source = items[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (let next = source.next(); !next.done; next = source.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
