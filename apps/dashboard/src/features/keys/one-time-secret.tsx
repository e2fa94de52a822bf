import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Key } from '../../api/keys';
import { apiTypesQuery, isEmbeddingModel, modelsQuery, publicApiQuery } from '../../api/models';
import { CodeTabs } from '../../ui/code';
import { CopyButton } from '../../ui/copy';
import { Notice } from '../../ui/notice';
import { Section } from '../../ui/page';
import { Skeleton } from '../../ui/states';
import { UnsavedChanges } from '../../ui/unsaved-changes';
import { clientSnippets } from './client-snippets';
import { snippets } from './snippets';

const MODEL_WHEN_UNKNOWN = 'your/model';
const EXAMPLE_BASE_URL = 'https://your-gateway.example/v1';

interface OneTimeSecretProps {
  readonly secret: string;
  /** What the key may do, for the examples. */
  readonly of: Pick<Key, 'allowed_models' | 'scopes'>;
}

/** Shows a new key once, with code examples. It is not stored in the browser. */
export function OneTimeSecret({ secret, of: { allowed_models: allowed, scopes } }: OneTimeSecretProps) {
  const { data: offered, isPending } = useQuery(modelsQuery);
  const [copied, setCopied] = useState(false);
  const models = offered?.filter(({ id }) => allowed === null || allowed.includes(id));
  const { data: baseUrl } = useQuery(publicApiQuery);
  const { data: apiTypes = [] } = useQuery(apiTypesQuery);
  const options = {
    baseUrl: baseUrl ?? EXAMPLE_BASE_URL,
    apiKey: secret,
    model: models?.find((one) => !isEmbeddingModel(one))?.id ?? MODEL_WHEN_UNKNOWN,
  };
  const embeddingModel = models?.find(isEmbeddingModel)?.id;
  return (
    <div className="grid min-w-0 gap-6">
      <UnsavedChanges when={!copied} title="Leave without copying the key?">
        It isn’t shown again. Copy it first, or rotate the key later to get another one.
      </UnsavedChanges>
      <div className="grid gap-3 rounded-lg border border-accent/40 bg-accent-soft p-4">
        <label htmlFor="secret" className="text-sm font-medium">
          Your key
        </label>
        <div className="flex flex-wrap gap-2">
          <input
            id="secret"
            readOnly
            autoFocus
            onCopy={() => setCopied(true)}
            value={secret}
            spellCheck={false}
            onFocus={(event) => event.target.select()}
            className="control min-w-0 flex-1 basis-64 font-mono !text-sm"
          />
          <CopyButton text={secret} what="key" onCopied={() => setCopied(true)} />
        </div>
        <Notice tone="warn">
          Store it securely. Only a hash is stored here, so a lost key can’t be recovered.
        </Notice>
      </div>
      {scopes.includes('chat') && (
        <Section title="Example request">
          {isPending ? (
            // Do not show a placeholder URL that could be copied.
            <Skeleton className="h-40" />
          ) : (
            <CodeTabs
              tabs={[...snippets(options), ...clientSnippets({ ...options, apiTypes, embeddingModel })]}
            />
          )}
        </Section>
      )}
    </div>
  );
}
