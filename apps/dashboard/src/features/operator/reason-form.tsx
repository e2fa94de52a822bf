import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button';
import { DialogActions } from '../../ui/dialog';
import { Field, Input } from '../../ui/field';
import { FailureLine } from '../../ui/states';

interface ReasonFormProps {
  /** What the reason is shown next to, such as "target". */
  readonly shownAt: string;
  readonly action: string;
  readonly danger: boolean;
  readonly submit: (reason: string) => Promise<unknown>;
  readonly onDone: () => void;
}

/** The reason for a change of the catalogue that applies to all organizations. */
export function ReasonForm({ shownAt, action, danger, submit, onDone }: ReasonFormProps) {
  const [reason, setReason] = useState('');
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: () => submit(reason.trim()),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['provider-health'] });
      await queryClient.invalidateQueries({ queryKey: ['catalogue'] });
      await queryClient.invalidateQueries({ queryKey: ['models'] });
      onDone();
    },
  });
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <Field label="Reason" hint={`Shown next to the ${shownAt} and in the audit log.`}>
        <Input
          required
          autoFocus
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </Field>
      {change.error && <FailureLine error={change.error} />}
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" kind={danger ? 'danger' : 'primary'} busy={change.isPending}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}
