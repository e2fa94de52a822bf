import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { counted } from '../../../format/count';
import { Button } from '../../../ui/button';
import { Field, Input } from '../../../ui/field';
import { Notice } from '../../../ui/notice';
import { SearchSelect } from '../../../ui/search-select';
import { FailureLine } from '../../../ui/states';
import { Text } from '../../../ui/values';
import { EntryDialog, useEntries, type OpenEntry } from './entries';

const MAX_OPTIONS = 50;

interface ProposePricesProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly secretNames: readonly string[];
}

type PublishedModel = Result<'POST /api/operator/catalogue/proposals'>['new_models'][number];

/** Replaces the prices of the edited text by published ones with a margin, and offers published models; nothing is saved. */
export function ProposePrices({ text, onText, secretNames }: ProposePricesProps) {
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
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          propose.mutate();
        }}
      >
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
                : `Prices of ${counted(propose.data.changed_models.length, 'model')} changed in the text above; save it as a draft to keep them`
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
      </form>
      {propose.data && propose.data.new_models.length > 0 && (
        <AddPublishedModel models={propose.data.new_models} {...{ text, onText, secretNames }} />
      )}
    </>
  );
}

/** Opens the form of a new model with what is published of it. */
function AddPublishedModel({
  models,
  ...rest
}: ProposePricesProps & { readonly models: readonly PublishedModel[] }) {
  const entries = useEntries(rest.text);
  const [searched, setSearched] = useState<string>();
  const [open, setOpen] = useState<OpenEntry>();
  const options = models
    .map(({ provider, model }, index) => ({ id: String(index), label: `${provider}/${model}` }))
    .filter(({ label }) => label.toLowerCase().includes((searched ?? '').toLowerCase()))
    .slice(0, MAX_OPTIONS);
  return (
    <>
      <Field
        label="Add a model with published prices"
        hint={`${counted(models.length, 'published model')} of these providers are not in the catalogue.`}
      >
        <SearchSelect
          value={undefined}
          valueLabel=""
          emptyLabel="Choose a model"
          options={options}
          onSearch={setSearched}
          onChange={(id) => {
            const chosen = models[Number(id)];
            if (chosen) setOpen({ kind: 'model', index: null, fields: chosen.entry });
          }}
        />
      </Field>
      {entries && <EntryDialog {...rest} entries={entries} open={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}
