import { Field, Input } from '../../ui/field';

interface NewPasswordProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: string | undefined;
  readonly label?: string;
}

/** A field for a new password. */
export function NewPassword({ value, onChange, error, label = 'New password' }: NewPasswordProps) {
  return (
    <Field label={label} hint="At least 10 characters, such as several unrelated words." error={error}>
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
