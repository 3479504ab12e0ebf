/** A wait that can be cut short. A wake without a waiter ends the next wait at once. */
export interface Wakeup {
  wake(): void;
  wait(timeoutMs: number): Promise<void>;
}

export function createWakeup(): Wakeup {
  let woken = false;
  let end: (() => void) | undefined;
  return {
    wake() {
      woken = true;
      end?.();
    },
    async wait(timeoutMs) {
      if (!woken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        end = undefined;
      }
      woken = false;
    },
  };
}
