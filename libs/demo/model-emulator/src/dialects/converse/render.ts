import { argumentsOf, type Choice, type Completion, type Usage } from '../../completion';
import type { UsageFault } from '../../faults';
import { joinText } from '../../tokens';
import type { RenderedStream } from '../../wire-format';
import { frameOf } from './frame';
import { redact, signatureOf } from './signature';

const STOP_REASONS: Readonly<Record<Choice['finishReason'], string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'content_filtered',
};

const PADDING = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const METRICS = { latencyMs: 1 };

/** The response of Converse. */
export function renderCompletion(completion: Completion, usageFault: UsageFault | undefined): string {
  const choice = completion.choices[0] as Choice;
  const usage = renderUsage(completion.usage, usageFault);
  return JSON.stringify({
    metrics: METRICS,
    output: { message: { content: contentOf(completion, choice), role: 'assistant' } },
    stopReason: stopReasonOf(choice),
    ...(usage === undefined ? {} : { usage }),
  });
}

function stopReasonOf({ finishReason, stopSequence }: Choice): string {
  return stopSequence === undefined ? STOP_REASONS[finishReason] : 'stop_sequence';
}

function contentOf(completion: Completion, choice: Choice): object[] {
  const blocks: object[] = [];
  const text = joinText(choice.reasoning).trimStart();
  if (text !== '') {
    const signed = { reasoningText: { text, signature: signatureOf(text) } };
    blocks.push({
      reasoningContent: completion.showsReasoning ? signed : { redactedContent: redact(text) },
    });
  }
  if (choice.content.length > 0) blocks.push({ text: joinText(choice.content) });
  for (const { id, name, segments } of choice.toolCalls) {
    blocks.push({ toolUse: { toolUseId: idOf(id), name, input: argumentsOf({ segments }) } });
  }
  return blocks;
}

/** Undefined with the fault `no-usage`. */
function renderUsage(usage: Usage, fault: UsageFault | undefined): object | undefined {
  if (fault?.kind === 'none') return undefined;
  if (fault !== undefined) {
    const { prompt, completion } = fault;
    return { inputTokens: prompt, outputTokens: completion, totalTokens: prompt + completion };
  }
  const { promptTokens, completionTokens, cachedTokens, cacheWrite5mTokens, cacheWrite1hTokens } = usage;
  const written = cacheWrite5mTokens + cacheWrite1hTokens;
  const details = [
    { ttl: '1h', inputTokens: cacheWrite1hTokens },
    { ttl: '5m', inputTokens: cacheWrite5mTokens },
  ];
  return {
    cacheDetails: details.filter(({ inputTokens }) => inputTokens > 0),
    cacheReadInputTokens: cachedTokens,
    cacheWriteInputTokens: written,
    inputTokens: promptTokens - cachedTokens - written,
    outputTokens: completionTokens,
    totalTokens: promptTokens + completionTokens,
  };
}

export function renderStream(
  completion: Completion,
  _includeUsage: boolean,
  usageFault: UsageFault | undefined,
): RenderedStream {
  return {
    events: renderEvents(completion, usageFault),
    // messageStart
    openingEvents: 1,
    isContent: (data) => data.startsWith('{"contentBlockDelta"'),
    end: undefined,
    malformed: ['{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"bro}'],
    error: '{"modelStreamErrorException":{"message":"The model stream failed (emulated fault)."}}',
    binary: { contentType: 'application/vnd.amazon.eventstream', frame: frameOf },
  };
}

function* renderEvents(
  completion: Completion,
  usageFault: UsageFault | undefined,
): Generator<string, void, void> {
  const choice = completion.choices[0] as Choice;
  yield event('messageStart', { role: 'assistant' });
  yield* renderBlocks(completion, choice);
  yield event('messageStop', { stopReason: stopReasonOf(choice) });
  const usage = renderUsage(completion.usage, usageFault);
  yield event('metadata', { metrics: METRICS, ...(usage === undefined ? {} : { usage }) });
}

function* renderBlocks(completion: Completion, choice: Choice): Generator<string, void, void> {
  let block = 0;
  const reasoning = joinText(choice.reasoning).trimStart();
  if (reasoning !== '') {
    if (completion.showsReasoning) {
      for (const [position, { text }] of choice.reasoning.entries()) {
        yield delta(block, { reasoningContent: { text: position === 0 ? text.trimStart() : text } });
      }
      yield delta(block, { reasoningContent: { signature: signatureOf(reasoning) } });
    } else {
      yield delta(block, { reasoningContent: { redactedContent: redact(reasoning) } });
    }
    yield event('contentBlockStop', { contentBlockIndex: block++ });
  }
  if (choice.content.length > 0) {
    for (const { text } of choice.content) yield delta(block, { text });
    yield event('contentBlockStop', { contentBlockIndex: block++ });
  }
  for (const { id, name, segments } of choice.toolCalls) {
    const start = { toolUse: { toolUseId: idOf(id), name } };
    yield event('contentBlockStart', { contentBlockIndex: block, start });
    for (const { text } of segments) yield delta(block, { toolUse: { input: text } });
    yield event('contentBlockStop', { contentBlockIndex: block++ });
  }
}

function delta(contentBlockIndex: number, part: object): string {
  return event('contentBlockDelta', { contentBlockIndex, delta: part });
}

/** The provider pads its events, so that their length does not reveal that of the text. */
function event(type: string, payload: object): string {
  const json = JSON.stringify(payload);
  return `{"${type}":${json.slice(0, -1)},"p":"${PADDING.slice(0, (json.length * 7) % PADDING.length)}"}}`;
}

function idOf(id: string): string {
  return id.replace('call_', 'tooluse_');
}
