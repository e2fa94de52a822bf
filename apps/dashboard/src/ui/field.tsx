import {
  createContext,
  forwardRef,
  useContext,
  useId,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from 'react';
import { cx } from './cx';

interface FieldContext {
  readonly id: string;
  readonly describedBy: string | undefined;
  readonly invalid: boolean;
}

const Context = createContext<FieldContext | undefined>(undefined);

interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly optional?: boolean;
  readonly children: ReactNode;
  readonly className?: string;
}

/** A labelled control with hint and error, linked for screen readers. */
export function Field({ label, hint, error, optional, children, className }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  const errorId = `${id}-error`;
  const describedBy = [hint !== undefined && hintId, error && errorId].filter(Boolean).join(' ') || undefined;
  return (
    <Context.Provider value={{ id, describedBy, invalid: Boolean(error) }}>
      <div className={cx('grid content-start gap-1', className)}>
        <label htmlFor={id} className="text-sm font-medium">
          {label}
          {optional && <span className="font-normal text-ink-faint"> (optional)</span>}
        </label>
        {children}
        {hint !== undefined && (
          <p id={hintId} className="text-xs text-ink-soft">
            {hint}
          </p>
        )}
        {error && (
          <p id={errorId} role="alert" className="text-xs font-medium text-bad">
            {error}
          </p>
        )}
      </div>
    </Context.Provider>
  );
}

function useFieldProps() {
  const field = useContext(Context);
  return field
    ? { id: field.id, 'aria-describedby': field.describedBy, 'aria-invalid': field.invalid || undefined }
    : {};
}

export const Input = forwardRef<HTMLInputElement, InputHTMLAttributes<HTMLInputElement>>(function Input(
  { className, ...rest },
  ref,
) {
  return (
    <input ref={ref} autoComplete="off" className={cx('control', className)} {...useFieldProps()} {...rest} />
  );
});

interface PasswordProps extends Pick<FieldProps, 'label' | 'hint'> {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly autoFocus?: boolean;
}

/** A field for an existing password, for password managers. */
export function PasswordField({ label, hint, value, onChange, autoFocus }: PasswordProps) {
  return (
    <Field label={label} hint={hint}>
      <Input
        type="password"
        autoComplete="current-password"
        required
        autoFocus={autoFocus}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  );
}

export const TextArea = forwardRef<HTMLTextAreaElement, TextareaHTMLAttributes<HTMLTextAreaElement>>(
  function TextArea({ className, ...rest }, ref) {
    return <textarea ref={ref} className={cx('control', className)} {...useFieldProps()} {...rest} />;
  },
);

export const Select = forwardRef<HTMLSelectElement, SelectHTMLAttributes<HTMLSelectElement>>(function Select(
  { className, ...rest },
  ref,
) {
  return <select ref={ref} className={cx('control', className)} {...useFieldProps()} {...rest} />;
});

interface CheckboxProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'type'> {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
}

export const Checkbox = forwardRef<HTMLInputElement, CheckboxProps>(function Checkbox(
  { label, hint, className, ...rest },
  ref,
) {
  const id = useId();
  return (
    <div className={cx('flex items-start gap-2', className)}>
      <input
        ref={ref}
        id={id}
        type="checkbox"
        className="mt-0.5 size-4 shrink-0 accent-accent"
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        {...rest}
      />
      <div className="min-w-0">
        <label htmlFor={id} className="text-sm [overflow-wrap:anywhere]">
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-xs text-ink-soft">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
});

/** A group of controls with a legend. */
export function FieldGroup({
  legend,
  hint,
  error,
  children,
}: {
  readonly legend: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly children: ReactNode;
}) {
  return (
    <fieldset className="grid gap-1.5">
      <legend className="mb-1 text-sm font-medium">{legend}</legend>
      {children}
      {hint !== undefined && <p className="text-xs text-ink-soft">{hint}</p>}
      {error && (
        <p role="alert" className="text-xs font-medium text-bad">
          {error}
        </p>
      )}
    </fieldset>
  );
}
