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
  /** The request that the dialog confirms; its failure is forgotten when the dialog closes. */
  readonly of?: { readonly error: unknown; readonly isPending: boolean; readonly reset: () => void };
  readonly onConfirm: () => void;
}

/** A confirmation dialog. */
export function Confirm(props: ConfirmProps) {
  const { open, title, of } = props;
  const onOpenChange = (next: boolean) => {
    props.onOpenChange(next);
    if (!next && of && !of.isPending) of.reset();
  };
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={title}>
      <ConfirmBody {...props} onOpenChange={onOpenChange} />
    </Dialog>
  );
}

/** Unmounts with the dialog, which clears the input. */
function ConfirmBody({
  children,
  action,
  typed,
  danger,
  of = { error: undefined, isPending: false, reset: () => undefined },
  onConfirm,
  onOpenChange,
}: ConfirmProps) {
  const [text, setText] = useState('');
  const allowed = typed === undefined || text.trim() === typed.trim();
  return (
    <DialogForm
      of={of}
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
