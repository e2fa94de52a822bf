import { useEffect, useState } from 'react';

/** The pause in typing after which text is used. */
export const DEBOUNCE_MS = 300;

/** The value once it has not changed for a while. */
export function useDebounced<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
