/** The share of the output limit that thinking may use; the rest is for the response. */
const MAX_BUDGET_SHARE = 0.8;

/** The tokens for thinking, of those that the catalogue has for the effort. */
export function thinkingBudget(wanted: number, maxOutputTokens: number): number {
  return Math.min(wanted, Math.floor(maxOutputTokens * MAX_BUDGET_SHARE));
}
