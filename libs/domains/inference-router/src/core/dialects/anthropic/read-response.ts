import { asObject, nonEmptyText, type JsonObject } from '../../completion/json';
import type { ReadResponse, ReasoningDetail, ToolCallDelta } from '../dialect';
import { malformed } from '../failures';
import { readErrorEvent } from './classify-error';
import { choiceDelta } from '../choice-delta';
import { mergeUsage, NO_USAGE, toReportedUsage } from './read-usage';
import { finishReasonOf, stopSequenceOf } from './stop-reason';

/** @throws UpstreamFailure for content that is unreadable. */
export function readResponse(response: JsonObject): ReadResponse {
  const { content, stop_reason } = response;
  const error = readErrorEvent(response);
  if (error) return { choices: [], usage: undefined, error };
  if (!Array.isArray(content)) return { choices: [], usage: undefined };
  const texts: string[] = [];
  const thoughts: string[] = [];
  const details: ReasoningDetail[] = [];
  const toolCalls: ToolCallDelta[] = [];
  for (const value of content as unknown[]) {
    const block = asObject(value);
    if (!block) throw malformed('a content block that is not an object');
    switch (block['type']) {
      case 'text':
        texts.push(requireText(block, 'text'));
        break;
      case 'thinking': {
        const text = requireText(block, 'thinking');
        thoughts.push(text);
        const signature = block['signature'];
        if (typeof signature === 'string' && signature !== '') {
          details.push({ type: 'reasoning.text', index: details.length, text, signature });
        }
        break;
      }
      case 'redacted_thinking':
        details.push({
          type: 'reasoning.encrypted',
          index: details.length,
          data: requireText(block, 'data'),
        });
        break;
      case 'tool_use':
        toolCalls.push(toolCall(block, toolCalls.length));
        break;
      default:
      // Blocks of server tools, which the gateway does not request.
    }
  }
  const usage = asObject(response['usage']);
  const stopSequence = stopSequenceOf(response);
  return {
    choices: [
      choiceDelta({
        content: joined(texts),
        reasoning: joined(thoughts),
        ...(details.length === 0 ? {} : { reasoningDetails: details }),
        toolCalls,
        finishReason: finishReasonOf(stop_reason) ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
        stopSequence,
      }),
    ],
    usage: usage && toReportedUsage(mergeUsage(NO_USAGE, usage)),
  };
}

function toolCall({ id, name, input }: JsonObject, index: number): ToolCallDelta {
  return {
    index,
    id: nonEmptyText(id),
    name: nonEmptyText(name),
    arguments: JSON.stringify(asObject(input) ?? {}),
  };
}

function joined(texts: readonly string[]): string | null {
  return texts.join('') || null;
}

function requireText(block: JsonObject, field: string): string {
  const text = block[field];
  if (typeof text !== 'string') throw malformed(`a block without ${field}`);
  return text;
}
