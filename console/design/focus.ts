import { useEffect, useRef } from 'preact/hooks';

/** For an element that has the focus once it is there: autofocus does that at the load of a page alone. */
export function useFocus<T extends HTMLElement>(isWanted = true) {
  const element = useRef<T>(null);
  useEffect(() => {
    if (isWanted) element.current?.focus();
  }, []);
  return element;
}
