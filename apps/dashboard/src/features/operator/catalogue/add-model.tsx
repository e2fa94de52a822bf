import type { Result } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../../../api/client';
import { counted } from '../../../format/count';
import { Button } from '../../../ui/button';
import { useDebounced } from '../../../ui/debounce';
import { DialogActions } from '../../../ui/dialog';
import { Field, Input } from '../../../ui/field';
import { Notice } from '../../../ui/notice';
import { SearchSelect } from '../../../ui/search-select';
import { FailureLine } from '../../../ui/states';
import { Text } from '../../../ui/values';
import type { CatalogueEntries } from './check-entry';
import { EntryForm } from './entry-form';
import { textOf, type Fields } from './json-schema';
import type { EntryContext } from './schema-field';
import { TestResult, useModelTest } from './test-model';

const MAX_OPTIONS = 50;
/** What nearly every model has. The price data has neither; the operator completes them in the form. */
const START_MAX_OUTPUT_TOKENS = 8_192;
const START_CAPABILITIES = ['tools', 'json_mode'];

type PublishedModel = Result<'POST /api/operator/catalogue/proposals'>['new_models'][number];

interface AddModelProps {
  readonly text: string;
  readonly entries: CatalogueEntries;
  readonly suggestions: EntryContext['suggestions'];
  /** Only models of this provider. */
  readonly provider?: string | undefined;
  readonly onText: (text: string) => void;
  readonly onPublish: (comment: string) => void;
  readonly onClose: () => void;
}

/** Chooses a model with published prices, completes it in its form, and requests one token from it. */
export function AddModel({ provider, onPublish, ...props }: AddModelProps) {
  const [start, setStart] = useState<Fields>();
  const [added, setAdded] = useState<string>();
  if (added !== undefined) {
    const comment = provider === undefined ? `Add ${added}.` : `Add ${provider} with ${added}.`;
    return (
      <TestAdded
        text={props.text}
        model={added}
        onPublish={() => onPublish(comment)}
        onAddAnother={() => {
          setStart(undefined);
          setAdded(undefined);
        }}
        onClose={props.onClose}
      />
    );
  }
  if (!start) return <ChooseModel {...props} provider={provider} onChoose={setStart} />;
  return (
    <EntryForm
      {...props}
      kind="model"
      index={null}
      start={start}
      onText={(text, fields) => {
        props.onText(text);
        setAdded(textOf(fields['id']));
      }}
    />
  );
}

function ChooseModel({
  text,
  provider,
  onChoose,
  onClose,
}: Pick<AddModelProps, 'text' | 'provider' | 'onClose'> & { readonly onChoose: (start: Fields) => void }) {
  const [margin, setMargin] = useState('0');
  const marginPercent = useDebounced(Number(margin) || 0);
  const { data, error } = useQuery({
    queryKey: ['catalogue-new-models', text, marginPercent],
    queryFn: ({ signal }) =>
      api.call('POST /api/operator/catalogue/proposals', {
        body: { text, margin_percent: marginPercent },
        signal,
      }),
    staleTime: Infinity,
    retry: false,
  });
  const published = data?.new_models.filter((each) => provider === undefined || each.provider === provider);
  return (
    <div className="grid gap-4">
      <div className="grid items-start gap-4 sm:grid-cols-[1fr_9rem]">
        <Field
          label="Model"
          hint={
            published &&
            `${counted(published.length, 'model')} with published prices in USD per million tokens, input / output.`
          }
        >
          <SearchSelect
            value={undefined}
            valueLabel=""
            emptyLabel="Choose a model"
            useOptions={(searched = '') =>
              published
                ?.map((each, index) => ({ id: String(index), label: labelOf(each) }))
                .filter(({ label }) => label.toLowerCase().includes(searched.toLowerCase()))
                .slice(0, MAX_OPTIONS)
            }
            onChange={(id) => {
              const chosen = published?.[Number(id)];
              if (id !== undefined && chosen) onChoose(startOf(chosen.entry));
            }}
          />
        </Field>
        <Field label="Margin (%)" hint="On these prices.">
          <Input
            type="number"
            min={-100}
            max={1_000}
            step="any"
            value={margin}
            onChange={({ target }) => setMargin(target.value)}
          />
        </Field>
      </div>
      {error && <FailureLine error={error} />}
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
        <Button onClick={() => onChoose(provider === undefined ? {} : { targets: [{ provider }] })}>
          Start with an empty form
        </Button>
      </DialogActions>
    </div>
  );
}

/** With what the price data does not have. */
function startOf(entry: Fields): Fields {
  const contextWindow = entry['context_window'];
  return {
    max_output_tokens:
      typeof contextWindow === 'number'
        ? Math.min(contextWindow, START_MAX_OUTPUT_TOKENS)
        : START_MAX_OUTPUT_TOKENS,
    capabilities: START_CAPABILITIES,
    ...entry,
  };
}

function labelOf({ provider, model, entry }: PublishedModel): string {
  const prices = entry['prices'] as Fields | undefined;
  return `${provider}/${model} · ${textOf(prices?.['input'])} / ${textOf(prices?.['output'])}`;
}

function TestAdded({
  text,
  model,
  onPublish,
  onAddAnother,
  onClose,
}: {
  readonly text: string;
  readonly model: string;
  readonly onPublish: () => void;
  readonly onAddAnother: () => void;
  readonly onClose: () => void;
}) {
  const test = useModelTest(text);
  const { mutate } = test;
  useEffect(() => mutate({ model, target: 0 }), [mutate, model]);
  return (
    <div className="grid gap-4">
      <p>
        <Text className="font-medium">{model}</Text> is in the draft. Requests can use it once the draft is
        published.
      </p>
      {test.isPending && <Notice title="Requesting one token from the provider …" />}
      <TestResult of={test} />
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
        <Button onClick={onAddAnother}>Add another model</Button>
        <Button kind="primary" onClick={onPublish}>
          Publish
        </Button>
      </DialogActions>
    </div>
  );
}
