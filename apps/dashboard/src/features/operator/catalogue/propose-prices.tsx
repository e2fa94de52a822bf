import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { counted } from '../../../format/count';
import { Button } from '../../../ui/button';
import { Field, Input } from '../../../ui/field';
import { Form } from '../../../ui/form';
import { Notice } from '../../../ui/notice';
import { FailureLine } from '../../../ui/states';
import { Text } from '../../../ui/values';

interface ProposePricesProps {
  readonly text: string;
  readonly onText: (text: string) => void;
}

/** Replaces the prices of the edited text by published ones with a margin; nothing is saved. */
export function ProposePrices({ text, onText }: ProposePricesProps) {
  const [margin, setMargin] = useState('0');
  const propose = useMutation({
    mutationFn: () =>
      api.call('POST /api/operator/catalogue/proposals', {
        body: { text, margin_percent: Number(margin) },
      }),
    onSuccess: (proposal) => onText(proposal.text),
  });
  return (
    <>
      <Form className="grid gap-3" onSubmit={() => propose.mutate()}>
        <div className="flex flex-wrap items-end gap-3">
          <Field label="Margin on published prices (%)">
            <Input
              type="number"
              min={-100}
              max={1_000}
              step="any"
              required
              value={margin}
              onChange={({ target }) => setMargin(target.value)}
            />
          </Field>
          <Button type="submit" busy={propose.isPending}>
            Propose prices
          </Button>
        </div>
        {propose.error && <FailureLine error={propose.error} />}
        {propose.data && (
          <Notice
            title={
              propose.data.changed_models.length === 0
                ? 'No published price differs'
                : `Prices of ${counted(propose.data.changed_models.length, 'model')} changed in the draft; save it to keep them`
            }
          >
            <ul className="text-xs">
              {propose.data.notes.map((note) => (
                <li key={note}>
                  <Text>{note}</Text>
                </li>
              ))}
            </ul>
          </Notice>
        )}
      </Form>
    </>
  );
}
