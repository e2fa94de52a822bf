import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { liveQuery } from '../../api/balance';
import { api } from '../../api/client';
import { organizationQuery } from '../../api/organizations';
import { nanoUsdOf, readAmount, usdOfNano } from '../../format/money';
import { Button } from '../../ui/button';
import { DialogActions } from '../../ui/dialog';
import { Field, Input } from '../../ui/field';
import { Form } from '../../ui/form';
import { FailureLine } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { exactUsd, Money, Text } from '../../ui/values';
import { amountError } from './amounts';

interface AddCreditProps {
  readonly organizationId: string;
  readonly onAdded?: () => void;
  /** Set in dialogs, to show a cancel button. */
  readonly onCancel?: () => void;
}

/** Submitting again after a lost response reuses the Idempotency-Key, so the credit is added once. */
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
        body: { amount_usd: readAmount(amount), note: note.trim() || null },
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
  const amountIssue = amountError(amount);
  const { data: organization } = useQuery(organizationQuery(organizationId));
  const { data: live } = useQuery(liveQuery(organizationId));
  const submit = (
    <Button type="submit" kind="primary" busy={add.isPending}>
      {amountIssue === undefined ? `Add ${exactUsd(readAmount(amount))}` : 'Add credit'}
    </Button>
  );
  return (
    <Form
      noValidate
      onSubmit={() => {
        setTouched(true);
        if (amountIssue === undefined) add.mutate();
      }}
    >
      <div className="grid gap-4 sm:grid-cols-[10rem_1fr]">
        <Field label="Amount (USD)" error={touched ? amountIssue : undefined}>
          <Input
            inputMode="decimal"
            placeholder="100.00"
            value={amount}
            onChange={({ target }) => setAmount(target.value)}
          />
        </Field>
        <Field label="Note" optional hint="Shown on the statement, for example an invoice number.">
          <Input maxLength={200} value={note} onChange={({ target }) => setNote(target.value)} />
        </Field>
      </div>
      {amountIssue === undefined && organization && live && (
        <p className="text-sm text-ink-soft">
          Available to <Text className="font-medium text-ink">{organization.name}</Text>:{' '}
          <Money usd={live.balance.available_usd} digits="cents" /> now,{' '}
          <Money
            className="font-medium text-ink"
            usd={usdOfNano(nanoUsdOf(live.balance.available_usd) + nanoUsdOf(readAmount(amount)))}
            digits="cents"
          />{' '}
          afterwards
        </p>
      )}
      {add.error && <FailureLine error={add.error} />}
      {onCancel ? (
        <DialogActions>
          <Button onClick={onCancel}>Cancel</Button>
          {submit}
        </DialogActions>
      ) : (
        <div>{submit}</div>
      )}
    </Form>
  );
}

/** Reloads an organization's balance and statement after a change. */
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
