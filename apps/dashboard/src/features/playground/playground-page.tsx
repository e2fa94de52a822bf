import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { liveQuery } from '../../api/balance';
import { failureOf } from '../../api/failure';
import { modelsQuery, publicApiQuery, type OfferedModel } from '../../api/models';
import { Button } from '../../ui/button';
import { CodeTabs } from '../../ui/code';
import { Page } from '../../ui/page';
import { Segments } from '../../ui/segments';
import { Empty, Failure, Skeleton } from '../../ui/states';
import { Money } from '../../ui/values';
import { snippets } from '../keys/snippets';
import { Composer } from './composer';
import { Conversation, type Turn } from './conversation';
import { complete, NOTHING_YET, type Completion } from './completion';
import { Estimate } from './estimate';
import type { Picture } from './image';
import { bodyOf, toolsIn, type Message, type PlaygroundRequest } from './request';
import { Settings, type PlaygroundSettings } from './settings';
import { usePlaygroundKey } from './use-playground-key';

const route = getRouteApi('/signed-in/o/$organizationId/playground');

/** Stands in the code while nothing is written, so that the code runs. */
const EXAMPLE = 'Hello!';

const VIEWS = [
  { value: 'talk', label: 'Talk' },
  { value: 'code', label: 'As code' },
] as const;

export function PlaygroundPage() {
  const { organizationId } = route.useParams();
  const { model: asked } = route.useSearch();
  const navigate = route.useNavigate();
  const models = useQuery(modelsQuery);
  const live = useQuery(liveQuery(organizationId));
  const [view, setView] = useState<'talk' | 'code'>('talk');
  const model = models.data?.find(({ id }) => id === asked) ?? models.data?.[0];

  return (
    <Page
      title="Playground"
      description="It asks the public API itself, with a key of your own that ends in minutes. What it asks costs credit."
      actions={
        <>
          {live.data && (
            <span className="mr-3 text-sm text-ink-soft">
              Available <Money usd={live.data.balance.available_usd} className="font-medium text-ink" />
            </span>
          )}
          <Segments label="View" options={VIEWS} value={view} onChange={setView} />
        </>
      }
    >
      {failureOf(models) ? (
        <Failure error={models.error} what="the models" onRetry={() => void models.refetch()} />
      ) : !models.data ? (
        <Skeleton className="h-80" />
      ) : !model ? (
        <Empty icon="layers" title="No model can be called">
          An operator adds models with their providers and prices to the models file.
        </Empty>
      ) : (
        <Bench
          // A conversation belongs to its organization.
          key={organizationId}
          organizationId={organizationId}
          model={model}
          models={models.data}
          onModel={(id) => void navigate({ search: { model: id }, replace: true })}
          asCode={view === 'code'}
        />
      )}
    </Page>
  );
}

interface BenchProps {
  readonly organizationId: string;
  readonly model: OfferedModel;
  readonly models: readonly OfferedModel[];
  readonly onModel: (id: string) => void;
  readonly asCode: boolean;
}

function Bench({ organizationId, model, models, onModel, asCode }: BenchProps) {
  const [settings, setSettings] = useState<PlaygroundSettings>({
    system: '',
    maxTokens: '',
    tools: '',
    stream: true,
  });
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [draft, setDraft] = useState('');
  const [picture, setPicture] = useState<Picture>();
  const [running, setRunning] = useState(false);
  const abort = useRef<AbortController>(undefined);
  const playgroundKey = usePlaygroundKey(organizationId);
  const { data: baseUrl } = useQuery(publicApiQuery);

  const requestWith = (last: Message | undefined): PlaygroundRequest => ({
    model: model.id,
    ...settings,
    messages: [...turns.flatMap(messagesOf), ...(last ? [last] : [])],
  });
  const estimated = useMemo(() => {
    const text = draft.trim();
    if (text === '' && picture === undefined) return undefined;
    return bodyOf(requestWith({ role: 'user', text, ...(picture ? { image: picture.blankUri } : {}) }));
    // The turns, settings and draft are all that it is made of.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [turns, settings, draft, picture, model.id]);

  const send = async () => {
    const text = draft.trim();
    if (running || (text === '' && picture === undefined) || toolsIn(settings.tools) === undefined) return;
    const question: Message = { role: 'user', text, ...(picture ? { image: picture.uri } : {}) };
    const body = bodyOf(requestWith(question));
    const show = (turn: Partial<Turn>) =>
      setTurns((all) => [...all.slice(0, -1), { ...(all.at(-1) as Turn), ...turn }]);
    setTurns((all) => [...all, { question, answer: NOTHING_YET, error: undefined, done: false }]);
    setDraft('');
    setPicture(undefined);
    setRunning(true);
    abort.current = new AbortController();
    try {
      const { secret, baseUrl } = await playgroundKey();
      await complete({
        baseUrl,
        apiKey: secret,
        body,
        signal: abort.current.signal,
        onProgress: (answer: Completion) => show({ answer }),
      });
      show({ done: true });
    } catch (error) {
      const stopped = abort.current.signal.aborted;
      show({ done: true, error: stopped ? undefined : error });
      // What failed is not part of the conversation, so that it can be sent again as it was.
      if (!stopped) {
        setDraft((typed) => typed || text);
        setPicture((chosen) => chosen ?? picture);
      }
    } finally {
      setRunning(false);
    }
  };

  const shown = draft.trim() || (turns.length === 0 && !picture ? EXAMPLE : '');
  const codeBody = bodyOf(
    requestWith(
      shown === '' && !picture
        ? undefined
        : { role: 'user', text: shown, ...(picture ? { image: picture.uri } : {}) },
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
              picture={picture}
              onPicture={setPicture}
              takesPictures={model.capabilities.includes('vision')}
              running={running}
              onSend={() => void send()}
              onStop={() => abort.current?.abort()}
              note={<Estimate organizationId={organizationId} body={estimated} />}
            />
            {turns.length > 0 && !running && (
              <Button kind="quiet" small className="justify-self-start" onClick={() => setTurns([])}>
                Begin anew
              </Button>
            )}
          </>
        )}
      </div>
      <Settings
        model={model}
        models={models}
        onModel={onModel}
        settings={settings}
        onSettings={setSettings}
      />
    </div>
  );
}

/** What the model is told of a turn that is over; one that failed is not repeated to it. */
function messagesOf({ question, answer, error, done }: Turn): readonly Message[] {
  if (!done || error !== undefined || answer.text === '') return [];
  return [question, { role: 'assistant', text: answer.text }];
}
