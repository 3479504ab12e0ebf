/** Repeats work, one run at a time. Returns a function that stops it. */
export type StopRepeating = () => void;

/** The pause begins when a run ends: even after a long run there is one. */
export function everySoOften(
  pauseMs: number,
  work: () => Promise<void>,
  onFailure: (error: unknown) => void,
): StopRepeating {
  let isStopped = false;
  let timer = setTimeout(begin, pauseMs);

  function begin(): void {
    void work()
      .catch(onFailure)
      .finally(() => {
        if (!isStopped) timer = setTimeout(begin, pauseMs);
      });
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
