import { withoutSecrets } from '@gateway/dashboard-contract/client';
import { useEffect, useState, type InputHTMLAttributes } from 'react';
import { DEBOUNCE_MS } from './debounce';
import { Input } from './field';

interface DebouncedInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange'> {
  readonly value: string;
  readonly onCommit: (value: string) => void;
}

/** A text input that commits its value after a pause in typing. It shortens secrets: the value becomes a part of the address. */
export function DebouncedInput({ value, onCommit, ...rest }: DebouncedInputProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => onCommit(typed.trim()), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  });
  return <Input {...rest} value={typed} onChange={({ target }) => setTyped(withoutSecrets(target.value))} />;
}
