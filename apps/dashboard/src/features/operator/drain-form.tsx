import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { Button } from '../../ui/button';
import { DialogActions } from '../../ui/dialog';
import { Field, Input } from '../../ui/field';
import { FailureLine } from '../../ui/states';

interface DrainFormProps {
  readonly of: Result<'GET /api/operator/providers'>['health']['targets'][number];
  readonly onDone: () => void;
}

export function DrainForm({ of: target, onDone }: DrainFormProps) {
  const [reason, setReason] = useState('');
  const queryClient = useQueryClient();
  const drain = useMutation({
    mutationFn: () =>
      api.call('PUT /api/operator/targets/drain', {
        body: {
          provider: target.provider,
          provider_model: target.provider_model,
          drained: target.drained === null,
          reason: reason.trim(),
        },
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['provider-health'] });
      await queryClient.invalidateQueries({ queryKey: ['catalogue'] });
      onDone();
    },
  });
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        drain.mutate();
      }}
    >
      <Field label="Reason" hint="Shown next to the target and in the audit log.">
        <Input
          required
          autoFocus
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </Field>
      {drain.error && <FailureLine error={drain.error} />}
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" kind={target.drained ? 'primary' : 'danger'} busy={drain.isPending}>
          {target.drained ? 'Resume' : 'Drain'}
        </Button>
      </DialogActions>
    </form>
  );
}
