import { useState, type ReactNode } from 'react';
import { Dialog } from './dialog';
import { Field, Input } from './field';
import { DialogForm } from './form';
import { Text } from './values';

interface ConfirmProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  /** The consequences, and whether they can be undone. */
  readonly children: ReactNode;
  /** The button's label, such as "Revoke key". */
  readonly action: string;
  /** Text that must be typed to confirm an irreversible action. */
  readonly typed?: string;
  readonly danger?: boolean;
  readonly busy: boolean;
  readonly error: unknown;
  readonly onConfirm: () => void;
}

/** A confirmation dialog. */
export function Confirm(props: ConfirmProps) {
  return (
    <Dialog open={props.open} onOpenChange={props.onOpenChange} title={props.title}>
      <ConfirmBody {...props} />
    </Dialog>
  );
}

/** Unmounts with the dialog, which clears the input. */
function ConfirmBody({
  children,
  action,
  typed,
  danger,
  busy,
  error,
  onConfirm,
  onOpenChange,
}: ConfirmProps) {
  const [text, setText] = useState('');
  const allowed = typed === undefined || text.trim() === typed.trim();
  return (
    <DialogForm
      of={{ error, isPending: busy }}
      action={action}
      danger={danger}
      disabled={!allowed}
      onSubmit={() => {
        if (allowed) onConfirm();
      }}
      onCancel={() => onOpenChange(false)}
    >
      <div className="grid gap-3 text-sm text-ink-soft">{children}</div>
      {typed !== undefined && (
        <Field
          label={
            <>
              Type <Text className="font-mono">{typed}</Text> to confirm
            </>
          }
        >
          <Input value={text} onChange={(event) => setText(event.target.value)} autoFocus />
        </Field>
      )}
    </DialogForm>
  );
}
