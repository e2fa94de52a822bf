import { useQuery } from '@tanstack/react-query';
import { modelsQuery, publicApiQuery } from '../../api/models';
import { CodeTabs } from '../../ui/code';
import { CopyButton } from '../../ui/copy';
import { Notice } from '../../ui/notice';
import { Section } from '../../ui/page';
import { Skeleton } from '../../ui/states';
import { snippets } from './snippets';

const MODEL_WHEN_UNKNOWN = 'your/model';
const EXAMPLE_BASE_URL = 'https://your-gateway.example/v1';

/** The full key, while this page is open, and how to use it. It is kept in no storage of the browser. */
export function SecretOnce({ secret }: { readonly secret: string }) {
  const { data: models, isPending } = useQuery(modelsQuery);
  const { data: baseUrl } = useQuery(publicApiQuery);
  const model = models?.[0]?.id ?? MODEL_WHEN_UNKNOWN;
  return (
    <div className="grid min-w-0 gap-6">
      <div className="grid gap-3 rounded-lg border border-accent/40 bg-accent-soft p-4">
        <label htmlFor="secret" className="text-sm font-medium">
          Your key
        </label>
        <div className="flex flex-wrap gap-2">
          <input
            id="secret"
            readOnly
            value={secret}
            spellCheck={false}
            onFocus={(event) => event.target.select()}
            className="control min-w-0 flex-1 basis-64 font-mono !text-sm"
          />
          <CopyButton text={secret} what="the key" />
        </div>
        <Notice tone="warn">
          Keep it now, where only your program can read it. Only its hash is kept here: a lost key can be
          replaced, not recovered.
        </Notice>
      </div>
      <Section title="A first request">
        {isPending ? (
          // An address that is none would be copied by whoever is quick.
          <Skeleton className="h-40" />
        ) : (
          <CodeTabs tabs={snippets({ baseUrl: baseUrl ?? EXAMPLE_BASE_URL, apiKey: secret, model })} />
        )}
      </Section>
    </div>
  );
}
