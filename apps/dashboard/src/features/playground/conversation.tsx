import { Link } from '@tanstack/react-router';
import { count } from '../../format/count';
import { duration } from '../../format/time';
import { visibleText } from '../../format/invisible-characters';
import { Code } from '../../ui/code';
import { Icon } from '../../ui/icons';
import { Skeleton } from '../../ui/states';
import { Money, Text } from '../../ui/values';
import { CompletionError, type Completion } from './completion';
import type { Message } from './request';
import { ResponseText } from './response-text';

export interface Turn {
  readonly prompt: Message;
  readonly completion: Completion;
  readonly error: unknown;
  readonly done: boolean;
}

export function Conversation({
  turns,
  organizationId,
}: {
  readonly turns: readonly Turn[];
  readonly organizationId: string;
}) {
  if (turns.length === 0) {
    return (
      <div className="grid place-content-center gap-1 rounded-lg border border-dashed border-line px-4 py-16 text-center text-sm text-ink-soft">
        <p className="font-medium text-ink">Send a message to try a model</p>
        <p>The maximum cost is shown before you send, and the actual cost with the response.</p>
      </div>
    );
  }
  return (
    <ol className="grid gap-6">
      {turns.map((turn, index) => (
        <li key={index} className="grid gap-3">
          <div className="grid justify-items-end gap-2">
            {turn.prompt.image !== undefined && (
              <img
                src={turn.prompt.image}
                alt="Attached image"
                className="max-h-48 rounded-lg border border-line"
              />
            )}
            {turn.prompt.text !== '' && (
              <p
                dir="auto"
                className="max-w-[85%] rounded-lg bg-sunken px-3 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]"
              >
                {visibleText(turn.prompt.text)}
              </p>
            )}
          </div>
          <Response turn={turn} organizationId={organizationId} />
        </li>
      ))}
    </ol>
  );
}

function Response({
  turn: { completion, error, done },
  organizationId,
}: {
  readonly turn: Turn;
  readonly organizationId: string;
}) {
  const waiting = !done && completion.text === '' && completion.toolCalls.length === 0;
  return (
    <div className="grid gap-3 border-l-2 border-accent/50 pl-4">
      {waiting && <Skeleton className="h-4 w-24" />}
      {completion.text !== '' && <ResponseText text={completion.text} done={done} />}
      {completion.toolCalls.map((call, index) => (
        <div key={index} className="grid gap-1">
          <p className="flex items-center gap-1.5 text-sm font-medium">
            <Icon name="tool" /> Tool call: <Text>{call.name}</Text>
          </p>
          <Code text={pretty(call.arguments)} what="arguments" wrap />
        </div>
      ))}
      {error !== undefined && <ErrorMessage error={error} />}
      {done && <CompletionSummary completion={completion} organizationId={organizationId} />}
    </div>
  );
}

function ErrorMessage({ error }: { readonly error: unknown }) {
  const apiError = error instanceof CompletionError ? error : undefined;
  const message = apiError?.message ?? (error instanceof Error ? error.message : 'The request failed.');
  return (
    <div role="alert" className="text-sm text-bad">
      <p>{message}</p>
      {apiError && (
        <p className="text-xs">
          <code className="font-mono">{apiError.code}</code>
          {apiError.requestId !== undefined && (
            <>
              , request ID <code className="font-mono [overflow-wrap:anywhere]">{apiError.requestId}</code>
            </>
          )}
        </p>
      )}
    </div>
  );
}

/** The cost and timing, with a link to the generation, which is settled within a second. */
function CompletionSummary({
  completion,
  organizationId,
}: {
  readonly completion: Completion;
  readonly organizationId: string;
}) {
  const { cost, tokens, firstTokenMs, durationMs, finishReason, generationId } = completion;
  return (
    <p className="flex flex-wrap gap-x-3 gap-y-1 text-xs text-ink-soft">
      {cost !== undefined && (
        <span>
          Cost <Money usd={decimal(cost)} className="font-medium text-ink" />
        </span>
      )}
      {tokens && (
        <span>
          {count(tokens.input)} input, {count(tokens.output)} output tokens
        </span>
      )}
      {firstTokenMs !== undefined && durationMs !== undefined && (
        <span>
          First token {duration(firstTokenMs)}, total {duration(durationMs)}
        </span>
      )}
      {finishReason !== undefined && <span>{finishReason}</span>}
      {generationId !== undefined && (
        <Link
          to="/o/$organizationId/generations/$generationId"
          params={{ organizationId, generationId }}
          className="text-accent hover:underline"
        >
          Details
        </Link>
      )}
    </p>
  );
}

/** Writes an amount without an exponent; nine decimal places are exact. */
const decimal = (amount: number) => amount.toFixed(9).replace(/\.?0+$/, '') || '0';

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
