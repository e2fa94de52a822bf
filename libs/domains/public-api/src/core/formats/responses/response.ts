import { errorEnvelope } from '@gateway/errors';
import type { JsonObject } from '../../json/json-value';
import { parseObject, typedEvent } from '../chunk-events';
import type { ResponseContext, ResponseFormat } from '../response-format';
import { responseHead, responseOf } from './output';
import { ResponseStream } from './response-stream';

export const responsesResponse: ResponseFormat = {
  errorBody: errorEnvelope,
  openStream: (context) => new ResponseStream(context),
  response: (completionJson, context) => JSON.stringify(responseOf(parseObject(completionJson), context)),
  replay: (completionJson, context) => replay(responseOf(parseObject(completionJson), context), context),
};

type Event = readonly [type: string, fields: JsonObject];

/** The events of a complete response: one delta per text. */
function replay(response: JsonObject, context: ResponseContext): string {
  const head = responseHead(context, response['created_at']);
  const events: readonly Event[] = [
    ['response.created', { response: head }],
    ['response.in_progress', { response: head }],
    ...(response['output'] as JsonObject[]).flatMap((item, output_index): Event[] => {
      const [started, ...parts] = eventsOf(item);
      const item_id = item['id'] as string;
      return [
        ['response.output_item.added', { output_index, item: started }],
        ...parts.map(([type, fields]): Event => [type, { item_id, output_index, ...fields }]),
        ['response.output_item.done', { output_index, item }],
      ];
    }),
    [response['status'] === 'completed' ? 'response.completed' : 'response.incomplete', { response }],
  ];
  return events
    .map(([type, fields], sequence_number) => typedEvent({ type, sequence_number, ...fields }))
    .join('');
}

/** The item as it starts, and the events of its parts. */
function eventsOf(item: JsonObject): [started: JsonObject, ...parts: Event[]] {
  switch (item['type']) {
    case 'reasoning':
      return [{ id: item['id'] as string, type: 'reasoning', summary: [] }, ...ofSummary(item)];
    case 'message': {
      const parts = (item['content'] as JsonObject[]).flatMap(ofPart);
      return [{ ...item, status: 'in_progress', content: [] }, ...parts];
    }
    case 'function_call': {
      const { name = '', arguments: text = '' } = item;
      return [
        { ...item, status: 'in_progress', arguments: '' },
        ['response.function_call_arguments.delta', { delta: text }],
        ['response.function_call_arguments.done', { name, arguments: text }],
      ];
    }
    default: {
      const { input = '' } = item;
      return [
        { ...item, status: 'in_progress', input: '' },
        ['response.custom_tool_call_input.delta', { delta: input }],
        ['response.custom_tool_call_input.done', { input }],
      ];
    }
  }
}

function ofSummary({ summary }: JsonObject): Event[] {
  return (summary as JsonObject[]).flatMap((part, summary_index): Event[] => {
    const { text = '' } = part;
    return [
      ['response.reasoning_summary_part.added', { summary_index, part: { ...part, text: '' } }],
      ['response.reasoning_summary_text.delta', { summary_index, delta: text }],
      ['response.reasoning_summary_text.done', { summary_index, text }],
      ['response.reasoning_summary_part.done', { summary_index, part }],
    ];
  });
}

function ofPart(part: JsonObject, content_index: number): Event[] {
  const isText = part['type'] === 'output_text';
  const { text = '', refusal = '' } = part;
  const empty = isText ? { ...part, text: '' } : { ...part, refusal: '' };
  const [delta, done]: readonly Event[] = isText
    ? [
        ['response.output_text.delta', { content_index, delta: text, logprobs: [] }],
        ['response.output_text.done', { content_index, text, logprobs: [] }],
      ]
    : [
        ['response.refusal.delta', { content_index, delta: refusal }],
        ['response.refusal.done', { content_index, refusal }],
      ];
  return [
    ['response.content_part.added', { content_index, part: empty }],
    delta as Event,
    done as Event,
    ['response.content_part.done', { content_index, part }],
  ];
}
