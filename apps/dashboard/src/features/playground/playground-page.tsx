import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { liveQuery } from '../../api/balance';
import { blockingErrorOf } from '../../api/transient-error';
import { modelsQuery, publicApiQuery, type OfferedModel } from '../../api/models';
import { organizationQuery } from '../../api/organizations';
import { Button } from '../../ui/button';
import { CodeTabs } from '../../ui/code';
import { Page } from '../../ui/page';
import { SegmentedControl } from '../../ui/segmented-control';
import { Empty, Failure, Skeleton } from '../../ui/states';
import { Money } from '../../ui/values';
import { StaleBadge } from '../credit/stale-figures';
import { snippets } from '../keys/snippets';
import { allowedModels } from './allowed-models';
import { Composer } from './composer';
import { Conversation, type Turn } from './conversation';
import { complete, EMPTY_COMPLETION, type Completion } from './completion';
import { Estimate } from './estimate';
import type { ImageAttachment } from './image';
import { bodyOf, issuesOf, type Message, type PlaygroundRequest } from './request';
import { Settings, type PlaygroundSettings } from './settings';
import { usePlaygroundKey } from './use-playground-key';
import { OperatorContact } from '../../app/operator-contact';

const route = getRouteApi('/signed-in/o/$organizationId/playground');

/** The message in the code examples until one is entered. */
const EXAMPLE = 'Hello!';

const VIEWS = [
  { value: 'chat', label: 'Chat' },
  { value: 'code', label: 'Code' },
] as const;

export function PlaygroundPage() {
  const { organizationId } = route.useParams();
  const { model: requested } = route.useSearch();
  const navigate = route.useNavigate();
  const offered = useQuery(modelsQuery);
  const organization = useQuery(organizationQuery(organizationId));
  const live = useQuery(liveQuery(organizationId));
  const [view, setView] = useState<'chat' | 'code'>('chat');
  const models =
    offered.data && organization.data && allowedModels(offered.data, organization.data.target_rules);
  const model = models?.find(({ id }) => id === requested) ?? models?.[0];
  const failed = [offered, organization].find(blockingErrorOf);

  return (
    <Page
      title="Playground"
      description="Requests use a temporary key and spend credit."
      actions={
        <>
          {live.data && (
            <span className="mr-3 text-sm text-ink-soft">
              Available{' '}
              <Money usd={live.data.balance.available_usd} digits="cents" className="font-medium text-ink" />{' '}
              <StaleBadge of={live} />
            </span>
          )}
          <SegmentedControl label="View" options={VIEWS} value={view} onChange={setView} />
        </>
      }
    >
      {failed ? (
        <Failure error={failed.error} what="models" onRetry={() => void failed.refetch()} />
      ) : !models ? (
        <Skeleton className="h-80" />
      ) : !model ? (
        <Empty icon="layers" title={offered.data?.length ? 'No model is allowed' : 'No models yet'}>
          {offered.data?.length ? (
            'The organization allows no provider and region of any model.'
          ) : (
            <>
              Contact <OperatorContact /> to add a model.
            </>
          )}
        </Empty>
      ) : (
        <Workbench
          // Resets the conversation when the organization changes.
          key={organizationId}
          organizationId={organizationId}
          model={model}
          models={models}
          onModel={(id) => void navigate({ search: { model: id }, replace: true })}
          asCode={view === 'code'}
        />
      )}
    </Page>
  );
}

interface WorkbenchProps {
  readonly organizationId: string;
  readonly model: OfferedModel;
  readonly models: readonly OfferedModel[];
  readonly onModel: (id: string) => void;
  readonly asCode: boolean;
}

function Workbench({ organizationId, model, models, onModel, asCode }: WorkbenchProps) {
  const [entered, setSettings] = useState<PlaygroundSettings>({
    system: '',
    maxTokens: '',
    tools: '',
    stream: true,
  });
  // Without the capability, the field is hidden.
  const settings = model.capabilities.includes('tools') ? entered : { ...entered, tools: '' };
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [draft, setDraft] = useState('');
  const [image, setImage] = useState<ImageAttachment>();
  const [running, setRunning] = useState(false);
  const abort = useRef<AbortController>(undefined);
  const playgroundKey = usePlaygroundKey(organizationId);
  const { data: baseUrl } = useQuery(publicApiQuery);

  const isValid = Object.values(issuesOf(settings)).every((issue) => issue === undefined);
  const requestWith = (last: Message | undefined): PlaygroundRequest => ({
    model: model.id,
    ...settings,
    messages: [...turns.flatMap(messagesOf), ...(last ? [last] : [])],
  });
  const estimated = useMemo(() => {
    const text = draft.trim();
    if (text === '' && image === undefined) return undefined;
    return bodyOf(requestWith({ role: 'user', text, ...(image ? { image: image.blankUri } : {}) }));
    // `requestWith` depends only on these values.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [turns, entered, draft, image, model]);

  const send = async () => {
    const text = draft.trim();
    if (running || !isValid || (text === '' && image === undefined)) return;
    const prompt: Message = { role: 'user', text, ...(image ? { image: image.uri } : {}) };
    const body = bodyOf(requestWith(prompt));
    const show = (turn: Partial<Turn>) =>
      setTurns((all) => [...all.slice(0, -1), { ...(all.at(-1) as Turn), ...turn }]);
    setTurns((all) => [...all, { prompt, completion: EMPTY_COMPLETION, error: undefined, done: false }]);
    setDraft('');
    setImage(undefined);
    setRunning(true);
    abort.current = new AbortController();
    try {
      const { secret, baseUrl } = await playgroundKey();
      await complete({
        baseUrl,
        apiKey: secret,
        body,
        signal: abort.current.signal,
        onProgress: (completion: Completion) => show({ completion }),
      });
      show({ done: true });
    } catch (error) {
      const stopped = abort.current.signal.aborted;
      show({ done: true, error: stopped ? undefined : error });
      // Restore the input of a failed request, so that it can be sent again.
      if (!stopped) {
        setDraft((typed) => typed || text);
        setImage((chosen) => chosen ?? image);
      }
    } finally {
      setRunning(false);
    }
  };

  const shown = draft.trim() || (turns.length === 0 && !image ? EXAMPLE : '');
  const codeBody = bodyOf(
    requestWith(
      shown === '' && !image
        ? undefined
        : { role: 'user', text: shown, ...(image ? { image: image.uri } : {}) },
    ),
  );
  const { model: _model, ...codeRequest } = codeBody;

  return (
    <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_18rem]">
      <div className="grid min-w-0 content-start gap-4">
        {asCode ? (
          <CodeTabs
            tabs={snippets({
              baseUrl: baseUrl ?? 'https://your-gateway.example/v1',
              apiKey: 'sk-gw-…',
              model: model.id,
              request: codeRequest,
            })}
          />
        ) : (
          <>
            <Conversation turns={turns} organizationId={organizationId} />
            <Composer
              draft={draft}
              onDraft={setDraft}
              image={image}
              onImage={setImage}
              supportsImages={model.capabilities.includes('vision')}
              running={running}
              onSend={() => void send()}
              onStop={() => abort.current?.abort()}
              isValid={isValid}
              note={
                isValid ? (
                  <Estimate organizationId={organizationId} body={estimated} />
                ) : (
                  'Correct the settings to send a message.'
                )
              }
            />
            {turns.length > 0 && !running && (
              <Button kind="quiet" small className="justify-self-start" onClick={() => setTurns([])}>
                New chat
              </Button>
            )}
          </>
        )}
      </div>
      <Settings model={model} models={models} onModel={onModel} settings={entered} onSettings={setSettings} />
    </div>
  );
}

/** The messages of a finished turn; failed turns are omitted. */
function messagesOf({ prompt, completion, error, done }: Turn): readonly Message[] {
  if (!done || error !== undefined || completion.text === '') return [];
  return [prompt, { role: 'assistant', text: completion.text }];
}
