/** Work that is done again and again, one at a time. Returns how to stop it. */
export type StopRepeating = () => void;

/** The pause begins when the work is over: however long it takes, there is one in between. */
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
