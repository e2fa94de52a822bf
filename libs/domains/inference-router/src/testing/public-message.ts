import type { Collected } from './router-under-test';

interface PublicToolCall {
  id: string;
  type: string;
  function: { name: string; arguments: string };
  extra_content?: unknown;
}

/** The assistant's message as a client has it, and can send it back. */
interface PublicMessage {
  role: string;
  content: string | null;
  refusal?: string | null;
  reasoning_content?: string;
  reasoning_details?: unknown[];
  tool_calls?: PublicToolCall[];
}

interface PublicUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
  readonly cost: number;
}

export interface PublicCompletion {
  readonly message: PublicMessage;
  /** Undefined when a stream has ended without one. */
  readonly finishReason: string | undefined;
  /** Undefined when the response has none. */
  readonly usage: PublicUsage | undefined;
}

interface Chunk {
  readonly choices: readonly {
    readonly index: number;
    readonly delta: Partial<Omit<PublicMessage, 'tool_calls'>> & {
      readonly tool_calls?: readonly (Partial<PublicToolCall> & { readonly index: number })[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: PublicUsage | null;
}

interface Completion {
  readonly choices: readonly { readonly message: PublicMessage; readonly finish_reason: string }[];
  readonly usage: PublicUsage;
}

/** The first completion of a response, streaming or not, put together as clients do. */
export function publicCompletionOf({ chunks, finished }: Collected): PublicCompletion {
  if (finished?.responseJson === undefined) return joined(chunks as unknown as readonly Chunk[]);
  const { choices, usage } = JSON.parse(String(finished.responseJson)) as Completion;
  const [choice] = choices;
  if (!choice) throw new Error('the response has no completion');
  return { message: choice.message, finishReason: choice.finish_reason, usage };
}

function joined(chunks: readonly Chunk[]): PublicCompletion {
  const message: PublicMessage = { role: 'assistant', content: null };
  let finishReason: string | undefined;
  let usage: PublicUsage | undefined;
  for (const chunk of chunks) {
    if (chunk.usage) usage = chunk.usage;
    for (const { index, delta, finish_reason: reason } of chunk.choices) {
      if (index !== 0) continue;
      addDelta(message, delta);
      if (reason !== null) finishReason = reason;
    }
  }
  return { message, finishReason, usage };
}

function addDelta(message: PublicMessage, delta: Chunk['choices'][number]['delta']): void {
  if (typeof delta.content === 'string') message.content = (message.content ?? '') + delta.content;
  if (delta.reasoning_content !== undefined) {
    message.reasoning_content = (message.reasoning_content ?? '') + delta.reasoning_content;
  }
  if (delta.reasoning_details) {
    message.reasoning_details = [...(message.reasoning_details ?? []), ...delta.reasoning_details];
  }
  for (const { index, ...part } of delta.tool_calls ?? []) {
    const calls = (message.tool_calls ??= []);
    const call = (calls[index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } });
    if (part.id !== undefined) call.id = part.id;
    if (part.extra_content !== undefined) call.extra_content = part.extra_content;
    call.function.name += part.function?.name ?? '';
    call.function.arguments += part.function?.arguments ?? '';
  }
}
