import { asObject, type JsonObject } from '../../completion/json';
import type { EncodeCall } from '../dialect';
import type { ModelFamily } from './model-family';
import { refused } from '../failures';
import { thinkingBudget } from '../thinking-budget';

/** The smallest `budget_tokens` that Claude accepts. */
const MIN_BUDGET_TOKENS = 1024;

/** How reasoning is requested. */
export interface EncodedReasoning {
  readonly additionalModelRequestFields: JsonObject;
  readonly outputConfig: JsonObject;
  /** The model refuses temperature and top_p. */
  readonly fixesSampling: boolean;
}

const none: EncodedReasoning = { additionalModelRequestFields: {}, outputConfig: {}, fixesSampling: false };

export interface ReasoningContext {
  readonly messages: readonly JsonObject[];
  readonly isToolForced: boolean;
}

/** @throws UpstreamFailure `rejected` for an effort that the model combines with no output limit. */
export function encodeEffort(
  effort: unknown,
  family: ModelFamily,
  call: EncodeCall,
  context: ReasoningContext,
): EncodedReasoning {
  if (typeof effort !== 'string' || effort === 'none') return none;
  const { reasoningBudgets } = call.options;
  if (reasoningBudgets) return encodeBudget(reasoningBudgets[effort] ?? 0, call, context);
  switch (family) {
    case 'anthropic':
      return encodeClaudeLevel(effort, context);
    case 'nova':
      return encodeNovaLevel(effort);
    case 'openai':
      return withFields({ reasoning_effort: effort });
    case 'qwen':
      return withFields({ reasoning_config: effort === 'low' || effort === 'minimal' ? 'low' : 'high' });
    case 'unknown':
      return { ...none, outputConfig: { effort } };
    case 'other':
      // These models always reason, or never.
      return none;
  }
}

/** Thinking counts towards maxTokens. Only Claude has a budget. */
function encodeBudget(wanted: number, call: EncodeCall, context: ReasoningContext): EncodedReasoning {
  const budget = thinkingBudget(wanted, call.maxOutputTokens);
  if (budget < MIN_BUDGET_TOKENS || context.isToolForced || lacksReasoningOfCalls(context.messages))
    return none;
  return {
    ...withFields({ thinking: { type: 'enabled', budget_tokens: budget } }),
    fixesSampling: true,
  };
}

function encodeClaudeLevel(effort: string, { isToolForced }: ReasoningContext): EncodedReasoning {
  const fields = { output_config: { effort: effort === 'minimal' ? 'low' : effort } };
  // Claude refuses thinking together with a forced tool. Newer models think by default.
  if (isToolForced) return withFields({ thinking: { type: 'disabled' }, ...fields });
  return { ...withFields({ thinking: { type: 'adaptive' }, ...fields }), fixesSampling: true };
}

function encodeNovaLevel(effort: string): EncodedReasoning {
  if (effort !== 'minimal' && effort !== 'low' && effort !== 'medium') {
    throw refused('reasoning_effort', `The effort '${effort}' cannot be combined with an output limit.`);
  }
  const maxReasoningEffort = effort === 'minimal' ? 'low' : effort;
  return withFields({ reasoningConfig: { type: 'enabled', maxReasoningEffort } });
}

function withFields(additionalModelRequestFields: JsonObject): EncodedReasoning {
  return { ...none, additionalModelRequestFields };
}

/**
 * Whether the request continues a loop of tool calls whose reasoning the client has not sent back. Claude refuses a budget
 * for thinking then; the vendor's documents advise to continue the loop without thinking.
 */
function lacksReasoningOfCalls(messages: readonly JsonObject[]): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const calls = last?.['tool_calls'];
  return (
    Array.isArray(calls) &&
    calls.length > 0 &&
    encodeReasoningDetails(last?.['reasoning_details']).length === 0
  );
}

interface Reasoning {
  text: string;
  signature: string;
  data: string;
}

/** The signed and the encrypted blocks of `reasoning_details`. Parts with the same index belong together. */
export function encodeReasoningDetails(details: unknown): JsonObject[] {
  if (!Array.isArray(details)) return [];
  const blocks = new Map<unknown, Reasoning>();
  for (const [at, value] of (details as unknown[]).entries()) {
    const detail = asObject(value) ?? {};
    const index = detail['index'] ?? `at ${at}`;
    const block = blocks.get(index) ?? { text: '', signature: '', data: '' };
    blocks.set(index, block);
    for (const name of ['text', 'signature', 'data'] as const) {
      const added = detail[name];
      if (typeof added === 'string') block[name] += added;
    }
  }
  return [...blocks.values()].flatMap(({ text, signature, data }): JsonObject[] => {
    if (data !== '') return [{ reasoningContent: { redactedContent: data } }];
    // Without a signature the provider refuses the block.
    if (signature === '') return [];
    return [{ reasoningContent: { reasoningText: { text, signature } } }];
  });
}
