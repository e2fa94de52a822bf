/** What a model may support beyond plain text. Only the first five have an error code of their own. */
export const capabilities = [
  'tools',
  'vision',
  'files',
  'json_mode',
  'structured_outputs',
  'reasoning',
  'logprobs',
  'parallel_tool_calls',
  'logit_bias',
  'verbosity',
  'prompt_cache',
  'prediction',
] as const;

export type Capability = (typeof capabilities)[number];
