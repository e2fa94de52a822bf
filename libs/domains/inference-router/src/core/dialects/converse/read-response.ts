import { asObject, nonEmptyText, type JsonObject } from '../../completion/json';
import { MAX_TOOL_CALLS } from '../../completion/completion';
import type { ReadResponse, ReasoningDetail, ToolCallDelta } from '../dialect';
import { errorIn } from './classify-error';
import { choiceDelta } from '../choice-delta';
import { malformed } from '../failures';
import { readUsage } from './read-usage';
import { finishReasonOf, stopSequenceOf } from './stop-reason';

/** Reads a response of Converse. */
export function readResponse(response: JsonObject): ReadResponse {
  const error = errorIn(response);
  if (error) return { choices: [], usage: undefined, error };
  const message = asObject(asObject(response['output'])?.['message']);
  if (!message) return { choices: [], usage: undefined };
  const { content } = message;
  if (!Array.isArray(content)) throw malformed('a message without a list of content blocks');
  const read = readBlocks(content as unknown[]);
  const usage = asObject(response['usage']);
  const reason = response['stopReason'];
  return {
    choices: [choiceDelta({ ...read, finishReason: finishReasonOf(reason), ...stopSequenceOf(reason) })],
    usage: usage && readUsage(usage),
  };
}

function readBlocks(blocks: readonly unknown[]) {
  const contents: string[] = [];
  const reasoningTexts: string[] = [];
  const details: ReasoningDetail[] = [];
  const toolCalls: ToolCallDelta[] = [];
  let reasoningBlocks = 0;
  for (const value of blocks) {
    const block = asObject(value);
    if (!block) throw malformed('a content block that is not an object');
    const tool = asObject(block['toolUse']);
    const reasoning = asObject(block['reasoningContent']);
    if ('text' in block) {
      contents.push(text(block['text'], 'text'));
    } else if (tool && tool['type'] !== 'server_tool_use') {
      if (toolCalls.length >= MAX_TOOL_CALLS) throw malformed(`more than ${MAX_TOOL_CALLS} tool calls`);
      toolCalls.push(readToolUse(tool, toolCalls.length));
    } else if (reasoning) {
      const index = reasoningBlocks++;
      readReasoning(reasoning, index, reasoningTexts, details);
    }
  }
  return {
    content: contents.length > 0 ? contents.join('') : null,
    reasoning: reasoningTexts.length > 0 ? reasoningTexts.join('') : null,
    toolCalls,
    ...(details.length > 0 ? { reasoningDetails: details } : {}),
  };
}

function readToolUse({ toolUseId, name, input }: JsonObject, index: number): ToolCallDelta {
  if (typeof name !== 'string' || name === '') throw malformed('a tool call without a name');
  return {
    index,
    id: nonEmptyText(toolUseId),
    name,
    arguments: JSON.stringify(input ?? {}),
  };
}

function readReasoning(
  reasoning: JsonObject,
  index: number,
  texts: string[],
  details: ReasoningDetail[],
): void {
  if ('redactedContent' in reasoning) {
    const data = text(reasoning['redactedContent'], 'redactedContent');
    details.push({ type: 'reasoning.encrypted', index, data });
    return;
  }
  const signed = asObject(reasoning['reasoningText']);
  if (!signed) return;
  const read = text(signed['text'] ?? '', 'reasoning');
  if (read !== '') texts.push(read);
  if (signed['signature'] === undefined || signed['signature'] === null) return;
  const signature = text(signed['signature'], 'signature');
  details.push({ type: 'reasoning.text', index, text: read, signature });
}

function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw malformed(`a ${name} that is not a text`);
  return value;
}
