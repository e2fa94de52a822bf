import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Field, Input } from '../../ui/field';
import { DialogForm } from '../../ui/form';
import { visible } from '../../ui/values';

interface ReasonDialogProps {
  readonly action: 'Disable' | 'Enable' | 'Drain' | 'Resume';
  /** What the reason is shown next to, and its name. */
  readonly kind: 'model' | 'target';
  readonly name: string;
  readonly title: ReactNode;
  readonly description: string;
  readonly submit: (reason: string) => Promise<unknown>;
}

const CHANGED = ['provider-health', 'catalogue', 'models'];

/** A button whose dialog requires the reason for a change that applies to all organizations. */
export function ReasonDialog({ action, kind, name, title, description, submit }: ReasonDialogProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        {action}
        <span className="sr-only"> {visible(name)}</span>
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={
          <>
            {action} {title}
          </>
        }
        description={description}
      >
        <ReasonForm {...{ action, kind, submit }} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function ReasonForm({
  action,
  kind,
  submit,
  onDone,
}: Pick<ReasonDialogProps, 'action' | 'kind' | 'submit'> & { readonly onDone: () => void }) {
  const [reason, setReason] = useState('');
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: () => submit(reason.trim()),
    onSuccess: async () => {
      await Promise.all(CHANGED.map((key) => queryClient.invalidateQueries({ queryKey: [key] })));
      onDone();
    },
  });
  const isDanger = action === 'Disable' || action === 'Drain';
  return (
    <DialogForm
      of={change}
      action={action}
      danger={isDanger}
      onSubmit={() => change.mutate()}
      onCancel={onDone}
    >
      <Field label="Reason" hint={`Shown next to the ${kind} and in the audit log.`}>
        <Input
          required
          autoFocus
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </Field>
    </DialogForm>
  );
}
