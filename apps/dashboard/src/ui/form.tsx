import type { ReactNode } from 'react';
import { Button } from './button';
import { DialogActions } from './dialog';
import { FailureLine } from './states';

interface FormProps {
  readonly onSubmit: () => void;
  readonly className?: string;
  /** The page checks the fields, not the browser. */
  readonly noValidate?: boolean;
  readonly children: ReactNode;
}

/** A form whose page submits it. */
export function Form({ onSubmit, className = 'grid gap-4', noValidate, children }: FormProps) {
  return (
    <form
      noValidate={noValidate}
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

interface DialogFormProps extends FormProps {
  /** The request of the form. Its failure stands above the buttons. */
  readonly of: { readonly error: unknown; readonly isPending: boolean };
  /** The label of the button that submits. */
  readonly action: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  /** Absent: the form has no button to cancel. */
  readonly onCancel?: () => void;
}

/** A form with its failure and its buttons, as dialogs have it. */
export function DialogForm({ of, action, danger, disabled, onCancel, children, ...form }: DialogFormProps) {
  return (
    <Form {...form}>
      {children}
      {of.error ? <FailureLine error={of.error} /> : null}
      <DialogActions>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" kind={danger ? 'danger' : 'primary'} busy={of.isPending} disabled={disabled}>
          {action}
        </Button>
      </DialogActions>
    </Form>
  );
}
