import { eventDataOf } from '@gateway/test-support';

interface Chunk {
  readonly id: string;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: {
      readonly role?: string;
      readonly content?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: object | null;
}

/** The combined content of a stream with one choice. */
export interface FoldedStream {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly toolCalls: readonly { id: string; name: string; arguments: string }[];
  readonly finishReasons: readonly string[];
  readonly usage: object | undefined;
}

/** Combines the chunks of an event stream as an SDK does. @throws Error if it does not end with [DONE] */
export function foldStream(text: string): FoldedStream {
  const events = eventDataOf(text);
  if (events.pop() !== '[DONE]') throw new Error('the stream does not end with [DONE]');
  const chunks = events.map((event) => JSON.parse(event) as Chunk);
  const ids = new Set(chunks.map(({ id }) => id));
  if (ids.size !== 1) throw new Error(`the stream has ${ids.size} ids`);
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const toolCalls: { id: string; name: string; arguments: string }[] = [];
  for (const { index, id = '', function: part } of choices.flatMap(({ delta }) => delta.tool_calls ?? [])) {
    const known = (toolCalls[index] ??= { id: '', name: '', arguments: '' });
    known.id += id;
    known.name += part?.name ?? '';
    known.arguments += part?.arguments ?? '';
  }
  return {
    id: [...ids].join(),
    role: choices.map(({ delta }) => delta.role ?? '').join(''),
    content: choices.map(({ delta }) => delta.content ?? '').join(''),
    toolCalls,
    finishReasons: choices.flatMap(({ finish_reason }) => finish_reason ?? []),
    usage: chunks.map(({ usage }) => usage).find((usage) => usage !== null && usage !== undefined),
  };
}
