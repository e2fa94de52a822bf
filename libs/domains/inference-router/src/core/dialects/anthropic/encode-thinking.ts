import type { EncodeCall } from '../dialect';
import { thinkingBudget } from '../thinking-budget';
import { isThinking, type Turn } from './encode-messages';

/** The smallest budget that the provider accepts, in tokens. */
const MIN_BUDGET_TOKENS = 1_024;

export interface Thinking {
  /** The field `thinking`. */
  readonly config?: object;
  /** The field `output_config.effort`. */
  readonly effort?: string;
  /** Whether the model may think, so that the provider restricts other fields. */
  readonly active: boolean;
}

export interface ThinkingContext {
  readonly turns: readonly Turn[];
  /** Whether `tool_choice` requires a call. */
  readonly forcesTool: boolean;
}

const NONE: Thinking = { active: false };

/** How `reasoning_effort` is sent: as a level with adaptive thinking, or as a budget of tokens. */
export function encodeThinking(effort: unknown, call: EncodeCall, context: ThinkingContext): Thinking {
  if (typeof effort !== 'string') return NONE;
  const { reasoningBudgets } = call.options;
  return reasoningBudgets ? budgeted(effort, reasoningBudgets, call, context) : adaptive(effort, context);
}

function adaptive(effort: string, { forcesTool }: ThinkingContext): Thinking {
  const disabled = { config: { type: 'disabled' }, active: false };
  if (effort === 'none') return disabled;
  // The provider's lowest level.
  const level = effort === 'minimal' ? 'low' : effort;
  // The provider refuses thinking together with a forced tool. Newer models think by default.
  if (forcesTool) return { ...disabled, effort: level };
  // Newer models omit the text of their thinking by default.
  return { config: { type: 'adaptive', display: 'summarized' }, effort: level, active: true };
}

function budgeted(
  effort: string,
  budgets: Readonly<Record<string, number>>,
  call: EncodeCall,
  { turns, forcesTool }: ThinkingContext,
): Thinking {
  const budget = thinkingBudget(budgets[effort] ?? 0, call.maxOutputTokens);
  const isRefused = forcesTool || continuesAssistant(turns) || hasLostThinking(turns);
  if (budget < MIN_BUDGET_TOKENS || isRefused) return NONE;
  return { config: { type: 'enabled', budget_tokens: budget }, active: true };
}

function continuesAssistant(turns: readonly Turn[]): boolean {
  return turns.at(-1)?.role === 'assistant';
}

/**
 * Whether the request continues a tool loop that does not start with thinking, because the client dropped it. The
 * provider refuses to think in the rest of such a loop when it has a budget.
 */
function hasLostThinking(turns: readonly Turn[]): boolean {
  let first: Turn | undefined;
  for (const turn of turns.toReversed()) {
    if (turn.role === 'assistant') first = turn;
    else if (!turn.content.some(({ type }) => type === 'tool_result')) break;
  }
  return first !== undefined && !isThinking(first.content[0]?.type ?? '');
}
