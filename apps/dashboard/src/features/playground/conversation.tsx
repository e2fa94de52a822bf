import { Link } from '@tanstack/react-router';
import { count } from '../../format/count';
import { duration } from '../../format/time';
import { visibleText } from '../../format/unseen';
import { Code } from '../../ui/code';
import { Icon } from '../../ui/icons';
import { Skeleton } from '../../ui/states';
import { Money, Text } from '../../ui/values';
import { CompletionRefused, type Completion } from './completion';
import type { Message } from './request';

export interface Turn {
  readonly question: Message;
  readonly answer: Completion;
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
        <p className="font-medium text-ink">Ask a model something.</p>
        <p>Below the field you see what it can cost at most, and after the answer what it did cost.</p>
      </div>
    );
  }
  return (
    <ol className="grid gap-6">
      {turns.map((turn, index) => (
        <li key={index} className="grid gap-3">
          <div className="grid justify-items-end gap-2">
            {turn.question.image !== undefined && (
              <img
                src={turn.question.image}
                alt="Sent with the message"
                className="max-h-48 rounded-lg border border-line"
              />
            )}
            {turn.question.text !== '' && (
              <p
                dir="auto"
                className="max-w-[85%] rounded-lg bg-sunken px-3 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]"
              >
                {visibleText(turn.question.text)}
              </p>
            )}
          </div>
          <Answer turn={turn} organizationId={organizationId} />
        </li>
      ))}
    </ol>
  );
}

function Answer({
  turn: { answer, error, done },
  organizationId,
}: {
  readonly turn: Turn;
  readonly organizationId: string;
}) {
  const waiting = !done && answer.text === '' && answer.toolCalls.length === 0;
  return (
    <div className="grid gap-3 border-l-2 border-accent/50 pl-4">
      {waiting && <Skeleton className="h-4 w-24" />}
      {answer.text !== '' && (
        <div
          dir="auto"
          aria-live="polite"
          aria-busy={!done}
          className="whitespace-pre-wrap [overflow-wrap:anywhere]"
        >
          {visibleText(answer.text)}
        </div>
      )}
      {answer.toolCalls.map((call, index) => (
        <div key={index} className="grid gap-1">
          <p className="flex items-center gap-1.5 text-sm font-medium">
            <Icon name="tool" /> It calls <Text>{call.name}</Text>
          </p>
          <Code text={pretty(call.arguments)} what="the arguments" wrap />
        </div>
      ))}
      {error !== undefined && <Refusal error={error} />}
      {done && <Bill answer={answer} organizationId={organizationId} />}
    </div>
  );
}

function Refusal({ error }: { readonly error: unknown }) {
  const refused = error instanceof CompletionRefused ? error : undefined;
  const message = refused?.message ?? (error instanceof Error ? error.message : 'It did not work.');
  return (
    <div role="alert" className="text-sm text-bad">
      <p>{message}</p>
      {refused && (
        <p className="text-xs">
          <code className="font-mono">{refused.code}</code>
          {refused.requestId !== undefined && (
            <>
              , request <code className="font-mono [overflow-wrap:anywhere]">{refused.requestId}</code>
            </>
          )}
        </p>
      )}
    </div>
  );
}

/** What it did cost, and where every detail is a second later. */
function Bill({ answer, organizationId }: { readonly answer: Completion; readonly organizationId: string }) {
  const { cost, tokens, firstTokenMs, tookMs, finishReason, generationId } = answer;
  return (
    <p className="flex flex-wrap gap-x-3 gap-y-1 text-xs text-ink-soft">
      {cost !== undefined && (
        <span>
          Cost <Money usd={decimal(cost)} className="font-medium text-ink" />
        </span>
      )}
      {tokens && (
        <span>
          {count(tokens.input)} tokens in, {count(tokens.output)} out
        </span>
      )}
      {firstTokenMs !== undefined && tookMs !== undefined && (
        <span>
          first token after {duration(firstTokenMs)}, all after {duration(tookMs)}
        </span>
      )}
      {finishReason !== undefined && <span>{finishReason}</span>}
      {generationId !== undefined && (
        <Link
          to="/o/$organizationId/generations/$generationId"
          params={{ organizationId, generationId }}
          className="text-accent hover:underline"
        >
          Every detail
        </Link>
      )}
    </p>
  );
}

/** The API's JSON number keeps every nano-dollar of such amounts; nine digits write it out without an exponent. */
const decimal = (amount: number) => amount.toFixed(9).replace(/\.?0+$/, '') || '0';

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
