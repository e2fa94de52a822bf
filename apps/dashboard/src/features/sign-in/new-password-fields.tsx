import { Field, Input } from '../../ui/field';

interface NewPasswordProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: string | undefined;
  readonly label?: string;
}

/** One field: what a person can read and copy from a password manager needs not be typed twice. */
export function NewPassword({ value, onChange, error, label = 'New password' }: NewPasswordProps) {
  return (
    <Field label={label} hint="At least 10 characters. Several words are easy to keep in mind." error={error}>
      <Input
        type="password"
        autoComplete="new-password"
        required
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}
