import type { ModelView } from '../../chat-completion/types';
import { hasCapability } from '../../chat-completion/rules/model-support';
import type { JsonObject } from '../../json/json-value';

/** All levels of `reasoning_effort`, from the least. */
const LEVELS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

const MEDIUM_FROM_TOKENS = 4_096;
const HIGH_FROM_TOKENS = 16_384;

/**
 * The level of `reasoning_effort` for `thinking` and `output_config.effort`: the nearest that the model accepts.
 *
 * @returns undefined where the model decides, or has no reasoning.
 */
export function effortOf(
  thinking: JsonObject | undefined,
  effort: string | undefined,
  model: ModelView | undefined,
): string | undefined {
  if (model === undefined || !hasCapability(model, 'reasoning')) return undefined;
  const { reasoningEfforts } = model;
  if (thinking?.['type'] === 'disabled') return reasoningEfforts.includes('none') ? 'none' : undefined;
  const wanted = effort ?? (thinking && levelOf(thinking));
  return wanted === undefined ? undefined : nearest(wanted, reasoningEfforts);
}

function levelOf({ budget_tokens: budget }: JsonObject): string {
  if (typeof budget !== 'number' || budget >= HIGH_FROM_TOKENS) return 'high';
  return budget >= MEDIUM_FROM_TOKENS ? 'medium' : 'low';
}

/** The nearest level; the lower one of two that are equally near. */
function nearest(wanted: string, accepted: readonly string[]): string | undefined {
  const rank = LEVELS.indexOf(wanted);
  const distance = (level: string) => Math.abs(LEVELS.indexOf(level) - rank);
  return LEVELS.filter((level) => level !== 'none' && accepted.includes(level)).sort(
    (one, other) => distance(one) - distance(other),
  )[0];
}
