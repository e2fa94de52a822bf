import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { Button } from '../../ui/button';
import { DialogActions } from '../../ui/dialog';
import { Field, Input } from '../../ui/field';
import { FailureLine } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { exactUsd } from '../../ui/values';
import { faultOfAmount } from './amounts';

interface AddCreditProps {
  readonly organizationId: string;
  readonly onAdded?: () => void;
  /** In a dialog, which it ends with buttons like those of all others. */
  readonly onCancel?: () => void;
}

/** One form adds its credit once: a lost answer can be asked for again under the same Idempotency-Key. */
export function AddCreditForm({ organizationId, onAdded, onCancel }: AddCreditProps) {
  const [amount, setAmount] = useState('');
  const [note, setNote] = useState('');
  const [touched, setTouched] = useState(false);
  const [idempotencyKey, setIdempotencyKey] = useState(() => crypto.randomUUID());
  const queryClient = useQueryClient();
  const toast = useToast();
  const add = useMutation({
    mutationFn: () =>
      api.call('POST /api/organizations/{organization_id}/credits', {
        params: { organization_id: organizationId },
        headers: { 'idempotency-key': idempotencyKey },
        body: { amount_usd: amount.trim(), note: note.trim() || null },
      }),
    onSuccess: async ({ credit }) => {
      toast(`${exactUsd(credit.amount_usd)} added.`);
      setIdempotencyKey(crypto.randomUUID());
      setAmount('');
      setNote('');
      setTouched(false);
      await refreshCredit(queryClient, organizationId);
      onAdded?.();
    },
  });
  const fault = faultOfAmount(amount);
  const submit = (
    <Button type="submit" kind="primary" busy={add.isPending}>
      Add credit
    </Button>
  );
  return (
    <form
      noValidate
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        setTouched(true);
        if (fault === undefined) add.mutate();
      }}
    >
      <div className="grid gap-4 sm:grid-cols-[10rem_1fr]">
        <Field label="Amount, US dollars" error={touched ? fault : undefined}>
          <Input
            inputMode="decimal"
            placeholder="100.00"
            value={amount}
            onChange={({ target }) => setAmount(target.value)}
          />
        </Field>
        <Field label="Note" optional hint="Such as the invoice; it is in the statement.">
          <Input maxLength={200} value={note} onChange={({ target }) => setNote(target.value)} />
        </Field>
      </div>
      {add.error && <FailureLine error={add.error} />}
      {onCancel ? (
        <DialogActions>
          <Button onClick={onCancel}>Cancel</Button>
          {submit}
        </DialogActions>
      ) : (
        <div>{submit}</div>
      )}
    </form>
  );
}

/** What was read about an organization's money is old after a change of it. */
export async function refreshCredit(
  queryClient: ReturnType<typeof useQueryClient>,
  organizationId: string,
): Promise<void> {
  await Promise.all(
    ['live', 'statement', 'statement-months'].map((name) =>
      queryClient.invalidateQueries({ queryKey: [name, organizationId] }),
    ),
  );
}
