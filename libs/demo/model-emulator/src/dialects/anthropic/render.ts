import { argumentsOf, type Choice, type Completion, type Usage } from '../../completion';
import type { UsageFault } from '../../faults';
import type { RenderedStream } from '../../wire-format';
import { joinText } from '../../tokens';
import { redact, signatureOf } from './signature';

const STOP_REASONS: Readonly<Record<Choice['finishReason'], string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

const MAX_PADDING = 16;

/** The fields of a message that are equal in its response and in `message_start`. */
function headOf({ id, modelName }: Completion): object {
  return {
    id: id.replace('chatcmpl-', 'msg_'),
    type: 'message',
    role: 'assistant',
    model: modelName,
  };
}

/** The response to a request without `stream`. */
export function renderCompletion(completion: Completion, usageFault: UsageFault | undefined): string {
  const choice = completion.choices[0] as Choice;
  const usage = renderUsage(completion.usage, usageFault);
  return JSON.stringify({
    ...headOf(completion),
    content: contentOf(completion, choice),
    ...stopOf(choice),
    ...(usage === undefined ? {} : { usage }),
  });
}

function stopOf({ finishReason, stopSequence }: Choice): object {
  return stopSequence === undefined
    ? { stop_reason: STOP_REASONS[finishReason], stop_sequence: null }
    : { stop_reason: 'stop_sequence', stop_sequence: stopSequence };
}

function contentOf(completion: Completion, choice: Choice): object[] {
  const blocks: object[] = [];
  const thinking = joinText(choice.reasoning).trimStart();
  if (thinking !== '') {
    blocks.push(
      completion.showsReasoning
        ? { type: 'thinking', thinking, signature: signatureOf(thinking) }
        : { type: 'redacted_thinking', data: redact(thinking) },
    );
  }
  if (choice.content.length > 0) blocks.push({ type: 'text', text: joinText(choice.content) });
  for (const call of choice.toolCalls) {
    blocks.push({
      type: 'tool_use',
      id: idOf(call.id),
      name: call.name,
      input: argumentsOf(call),
    });
  }
  return blocks;
}

/** Undefined with the fault `no-usage`. */
function renderUsage(usage: Usage, fault: UsageFault | undefined): object | undefined {
  if (fault?.kind === 'none') return undefined;
  if (fault !== undefined) return { input_tokens: fault.prompt, output_tokens: fault.completion };
  const { cachedTokens, cacheWrite5mTokens, cacheWrite1hTokens } = usage;
  const written = cacheWrite5mTokens + cacheWrite1hTokens;
  return {
    input_tokens: usage.promptTokens - cachedTokens - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cachedTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWrite5mTokens,
      ephemeral_1h_input_tokens: cacheWrite1hTokens,
    },
    output_tokens: usage.completionTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    service_tier: 'standard',
  };
}

export function renderStream(
  completion: Completion,
  _includeUsage: boolean,
  usageFault: UsageFault | undefined,
): RenderedStream {
  return {
    events: renderEvents(completion, usageFault),
    // message_start, ping, and the start of the first block.
    openingEvents: 3,
    isContent: (data) => data.startsWith('{"type":"content_block_delta"'),
    end: '{"type":"message_stop"}',
    nameOf: (data) => /^\{"type": ?"(\w+)"/.exec(data)?.[1] ?? 'content_block_delta',
    malformed: ['{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"bro'],
    error: '{"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}',
  };
}

function* renderEvents(
  completion: Completion,
  usageFault: UsageFault | undefined,
): Generator<string, void, void> {
  const choice = completion.choices[0] as Choice;
  const usage = renderUsage(completion.usage, usageFault);
  const message = { ...headOf(completion), content: [], stop_reason: null, stop_sequence: null };
  // The output of the first report is a placeholder.
  const first = usage === undefined ? {} : { usage: { ...usage, output_tokens: 1 } };
  yield JSON.stringify({ type: 'message_start', message: { ...message, ...first } });
  yield '{"type": "ping"}';
  yield* renderBlocks(completion, choice);
  const delta = stopOf(choice);
  yield padded(
    JSON.stringify({
      type: 'message_delta',
      delta,
      ...(usage === undefined ? {} : { usage: totalsOf(usage) }),
    }),
  );
}

/** The last report of a stream does not divide the written tokens by lifetime. */
function totalsOf(usage: object): object {
  const { cache_creation: _, service_tier: __, ...totals } = usage as Readonly<Record<string, unknown>>;
  return totals;
}

function* renderBlocks(completion: Completion, choice: Choice): Generator<string, void, void> {
  let index = 0;
  const thinking = joinText(choice.reasoning).trimStart();
  if (thinking !== '' && completion.showsReasoning) {
    yield start(index, { type: 'thinking', thinking: '', signature: '' });
    for (const [position, { text }] of choice.reasoning.entries()) {
      yield delta(index, { type: 'thinking_delta', thinking: position === 0 ? text.trimStart() : text });
    }
    yield delta(index, { type: 'signature_delta', signature: signatureOf(thinking) });
    yield stop(index++);
  } else if (thinking !== '') {
    yield start(index, { type: 'redacted_thinking', data: redact(thinking) });
    yield stop(index++);
  }
  if (choice.content.length > 0) {
    yield start(index, { type: 'text', text: '' });
    for (const { text } of choice.content) yield delta(index, { type: 'text_delta', text });
    yield stop(index++);
  }
  for (const call of choice.toolCalls) {
    yield start(index, { type: 'tool_use', id: idOf(call.id), name: call.name, input: {} });
    yield delta(index, { type: 'input_json_delta', partial_json: '' });
    for (const { text } of call.segments)
      yield delta(index, { type: 'input_json_delta', partial_json: text });
    yield stop(index++);
  }
}

function start(index: number, content_block: object): string {
  return padded(JSON.stringify({ type: 'content_block_start', index, content_block }));
}

function delta(index: number, part: object): string {
  return padded(JSON.stringify({ type: 'content_block_delta', index, delta: part }));
}

function stop(index: number): string {
  return padded(JSON.stringify({ type: 'content_block_stop', index }));
}

/** The provider pads its events, so that their length does not reveal that of the text. */
function padded(event: string): string {
  return `${event.slice(0, -1)}${' '.repeat((event.length * 7) % MAX_PADDING)}}`;
}

function idOf(id: string): string {
  return id.replace('call_', 'toolu_');
}
