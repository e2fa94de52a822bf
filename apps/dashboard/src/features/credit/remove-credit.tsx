import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { readAmount } from '../../format/money';
import { Button } from '../../ui/button';
import { DialogActions } from '../../ui/dialog';
import { Field, Input } from '../../ui/field';
import { DialogForm } from '../../ui/form';
import { FailureLine } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { exactUsd, Money } from '../../ui/values';
import { refreshCredit } from './add-credit-form';
import { amountError } from './amounts';

type Preview = Result<'POST /api/organizations/{organization_id}/corrections/preview'>;

interface RemoveCreditProps {
  readonly organizationId: string;
  readonly onDone: () => void;
}

/** Removes credit in two steps: a preview, then the confirmation of exactly that preview. */
export function RemoveCredit({ organizationId, onDone }: RemoveCreditProps) {
  const [amount, setAmount] = useState('');
  const [reason, setReason] = useState('');
  const [touched, setTouched] = useState(false);
  const queryClient = useQueryClient();
  const toast = useToast();
  const body = { amount_usd: readAmount(amount), reason: reason.trim() };
  const params = { organization_id: organizationId };
  const preview = useMutation({
    mutationFn: () =>
      api.call('POST /api/organizations/{organization_id}/corrections/preview', { params, body }),
  });
  const correct = useMutation({
    mutationFn: (confirmationToken: string) =>
      api.call('POST /api/organizations/{organization_id}/corrections', {
        params,
        body: { ...body, confirmation_token: confirmationToken },
      }),
    onSuccess: async () => {
      toast(`${exactUsd(readAmount(amount))} removed.`);
      await refreshCredit(queryClient, organizationId);
      onDone();
    },
  });
  const amountIssue = amountError(amount);

  if (preview.data) {
    return (
      <div className="grid gap-4">
        <PreviewTable preview={preview.data} />
        <p className="text-sm text-ink-soft">
          Reason: <bdi className="text-ink">{reason}</bdi>
        </p>
        {correct.error && <FailureLine error={correct.error} />}
        <DialogActions>
          <Button
            onClick={() => {
              correct.reset();
              preview.reset();
            }}
          >
            Back
          </Button>
          <Button
            kind="danger"
            busy={correct.isPending}
            onClick={() => correct.mutate(preview.data.confirmation_token)}
          >
            Remove {exactUsd(body.amount_usd)}
          </Button>
        </DialogActions>
      </div>
    );
  }
  return (
    <DialogForm
      of={preview}
      action="Preview"
      noValidate
      onSubmit={() => {
        setTouched(true);
        if (amountIssue === undefined && reason.trim() !== '') preview.mutate();
      }}
      onCancel={onDone}
    >
      <Field label="Amount (USD)" error={touched ? amountIssue : undefined}>
        <Input inputMode="decimal" value={amount} onChange={({ target }) => setAmount(target.value)} />
      </Field>
      <Field
        label="Reason"
        hint="Shown on the statement and in the audit log."
        error={touched && reason.trim() === '' ? 'Enter a reason.' : undefined}
      >
        <Input maxLength={200} value={reason} onChange={({ target }) => setReason(target.value)} />
      </Field>
    </DialogForm>
  );
}

function PreviewTable({ preview: { before, after } }: { readonly preview: Preview }) {
  const rows = [
    { name: 'Total credits', key: 'total_credits_usd' },
    { name: 'Balance', key: 'balance_usd' },
    { name: 'Available', key: 'available_usd' },
  ] as const;
  return (
    <table className="w-full text-sm">
      <thead>
        <tr className="border-b border-line text-xs text-ink-soft">
          <th className="h-8 text-left font-medium" scope="col">
            <span className="sr-only">Figure</span>
          </th>
          <th className="text-right font-medium" scope="col">
            Now
          </th>
          <th className="text-right font-medium" scope="col">
            After
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, key }) => (
          <tr key={key} className="border-b border-line">
            <th scope="row" className="py-2 text-left font-normal">
              {name}
            </th>
            <td className="text-right">
              <Money usd={before[key]} digits="all" />
            </td>
            <td className="text-right font-medium">
              <Money usd={after[key]} digits="all" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
