import { useState, type ReactNode } from 'react';
import { Button } from './button';
import { Dialog, DialogActions } from './dialog';
import { Field, Input } from './field';
import { FailureLine } from './states';
import { Text } from './values';

interface ConfirmProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  /** What will happen, and whether it can be taken back. */
  readonly children: ReactNode;
  /** What the button says: "Revoke the key". */
  readonly action: string;
  /** To be typed first, for what cannot be taken back. */
  readonly typed?: string;
  readonly danger?: boolean;
  readonly busy: boolean;
  readonly error: unknown;
  readonly onConfirm: () => void;
}

/** A second look before something is done. */
export function Confirm(props: ConfirmProps) {
  return (
    <Dialog open={props.open} onOpenChange={props.onOpenChange} title={props.title}>
      <ConfirmBody {...props} />
    </Dialog>
  );
}

/** Apart from its dialog, so that what was typed is gone when it opens again. */
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
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (allowed) onConfirm();
      }}
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
      {error ? <FailureLine error={error} /> : null}
      <DialogActions>
        <Button onClick={() => onOpenChange(false)}>Cancel</Button>
        <Button type="submit" kind={danger ? 'danger' : 'primary'} busy={busy} disabled={!allowed}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}
