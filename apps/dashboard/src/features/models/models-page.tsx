import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  apiTypesQuery,
  isEmbeddingModel,
  modelsQuery,
  publicApiQuery,
  type OfferedModel,
} from '../../api/models';
import { blockingErrorOf } from '../../api/transient-error';
import { CodeTabs } from '../../ui/code';
import { CopyIcon } from '../../ui/copy';
import { Fact, Facts, Page, Section } from '../../ui/page';
import { Field, Select } from '../../ui/field';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Id, Text } from '../../ui/values';
import { clientSnippets } from '../keys/client-snippets';
import { snippets } from '../keys/snippets';
import { modelColumns } from './model-columns';
import { OperatorContact } from '../../app/operator-contact';

/** Stands for a secret, which is shown only when its key is created. */
const EXAMPLE_KEY = 'YOUR_API_KEY';

/** The models that customers can use, with their prices, and how to call them. */
export function OfferedModelsPage() {
  const query = useQuery(modelsQuery);
  const models = query.data ?? [];
  return (
    <Page
      title="Models and prices"
      description="Prices are in US dollars per million tokens. Some keys allow only some of these models."
    >
      {blockingErrorOf(query) ? (
        <Failure error={query.error} what="models" onRetry={() => void query.refetch()} />
      ) : query.isPending ? (
        <SkeletonRows />
      ) : models.length === 0 ? (
        <Empty icon="layers" title="No models yet">
          Contact <OperatorContact /> to add a model.
        </Empty>
      ) : (
        <>
          <Table caption="Models" rows={models} columns={COLUMNS} rowId={({ id }) => id} />
          <HowToCall models={models} />
        </>
      )}
    </Page>
  );
}

/** The address of the API, and an example for the chosen model. */
function HowToCall({ models }: { readonly models: readonly OfferedModel[] }) {
  const { data: baseUrl } = useQuery(publicApiQuery);
  const { data: apiTypes = [] } = useQuery(apiTypesQuery);
  const chatModels = models.filter((one) => !isEmbeddingModel(one)).map(({ id }) => id);
  const [chosen, choose] = useState<string>();
  const model = chosen ?? chatModels[0];
  if (!baseUrl) return null;
  const options = { baseUrl, apiKey: EXAMPLE_KEY, model: model ?? '' };
  return (
    <Section title="How to call them" description="With a key of this organization in place of YOUR_API_KEY.">
      <Facts>
        <Fact name="Base URL">
          <span className="inline-flex items-center gap-1">
            <Id>{baseUrl}</Id>
            <CopyIcon text={baseUrl} what="base URL" />
          </span>
        </Fact>
      </Facts>
      {model !== undefined && (
        <>
          <Field label="Model">
            <Select value={model} onChange={({ target }) => choose(target.value)}>
              {chatModels.map((id) => (
                <option key={id}>{id}</option>
              ))}
            </Select>
          </Field>
          <CodeTabs
            tabs={[
              ...snippets(options),
              ...clientSnippets({ ...options, apiTypes, embeddingModel: models.find(isEmbeddingModel)?.id }),
            ]}
          />
        </>
      )}
    </Section>
  );
}

const COLUMNS: readonly Column<OfferedModel>[] = [
  {
    id: 'id',
    header: 'Model',
    accessorFn: ({ id }) => id,
    cell: ({ row: { original: model } }) => (
      <div className="sm:min-w-40">
        <span className="inline-flex items-center gap-1">
          <Text className="font-medium">{model.id}</Text>
          <CopyIcon text={model.id} what={`model ID ${model.id}`} />
        </span>
        <p className="text-xs text-ink-faint">
          <Text>{model.name}</Text>
        </p>
      </div>
    ),
  },
  ...modelColumns<OfferedModel>(),
];
