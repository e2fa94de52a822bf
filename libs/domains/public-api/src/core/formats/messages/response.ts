import { errorEnvelope } from '@gateway/errors';
import type { JsonObject } from '../../json/json-value';
import { parseObject, typedEvent } from '../chunk-events';
import type { ResponseFormat } from '../response-format';
import { messageOf } from './message';
import { MessageStream } from './message-stream';

export const messagesResponse: ResponseFormat = {
  errorBody: (error) => ({ type: 'error', ...errorEnvelope(error) }),
  openStream: (context) => new MessageStream(context),
  response: (completionJson, context) => JSON.stringify(messageOf(parseObject(completionJson), context)),
  replay: (completionJson, context) => replay(messageOf(parseObject(completionJson), context)),
};

/** The events of a complete message: one delta per block. */
function replay(message: JsonObject): string {
  const { content, usage, stop_reason, stop_sequence, stop_details } = message;
  const { output_tokens, output_tokens_details, server_tool_use, cost, ...input } = usage as JsonObject;
  const events: { readonly type: string; readonly [name: string]: unknown }[] = [
    {
      type: 'message_start',
      message: {
        ...message,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        usage: { ...input, output_tokens: 0 },
      },
    },
    { type: 'ping' },
  ];
  for (const [index, block] of (content as JsonObject[]).entries()) {
    const { start, deltas } = partsOf(block);
    events.push({ type: 'content_block_start', index, content_block: start });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  }
  const delta = { stop_reason, stop_sequence, stop_details, container: null };
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = input;
  const cumulative = {
    input_tokens,
    cache_creation_input_tokens,
    cache_read_input_tokens,
    output_tokens,
    output_tokens_details,
    server_tool_use,
    cost,
  };
  events.push({ type: 'message_delta', delta, usage: cumulative }, { type: 'message_stop' });
  return events.map(typedEvent).join('');
}

function partsOf(block: JsonObject): { readonly start: JsonObject; readonly deltas: readonly JsonObject[] } {
  const { thinking, signature, text, input } = block;
  switch (block['type']) {
    case 'thinking':
      return {
        start: { ...block, thinking: '', signature: '' },
        deltas: [
          ...(thinking === '' ? [] : [{ type: 'thinking_delta', thinking: thinking as string }]),
          ...(signature === '' ? [] : [{ type: 'signature_delta', signature: signature as string }]),
        ],
      };
    case 'text':
      return { start: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: text as string }] };
    case 'tool_use':
      return {
        start: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }],
      };
    default:
      return { start: block, deltas: [] };
  }
}
