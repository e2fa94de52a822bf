/** Their fields, in camel case, with the request field of the client that each is encoded from. */
const params = new Map([
  ['contents', 'messages'],
  ['systemInstruction', 'messages'],
  ['tools', 'tools'],
  ['toolConfig', 'tool_choice'],
  ['generationConfig.temperature', 'temperature'],
  ['generationConfig.topP', 'top_p'],
  ['generationConfig.topK', 'top_k'],
  ['generationConfig.seed', 'seed'],
  ['generationConfig.stopSequences', 'stop'],
  ['generationConfig.presencePenalty', 'presence_penalty'],
  ['generationConfig.frequencyPenalty', 'frequency_penalty'],
  ['generationConfig.responseLogprobs', 'logprobs'],
  ['generationConfig.logprobs', 'top_logprobs'],
  ['generationConfig.candidateCount', 'n'],
  ['generationConfig.maxOutputTokens', 'max_tokens'],
  ['generationConfig.responseMimeType', 'response_format'],
  ['generationConfig.responseJsonSchema', 'response_format'],
  ['generationConfig.thinkingConfig', 'reasoning_effort'],
]);

/** @param field a path in an error, such as "generation_config.top_p" or "contents[0].parts". */
export function publicParamOf(field: string): string | undefined {
  const path = field
    .replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    .replace(/\[\d+\]/g, '');
  const names = path.split('.');
  return params.get(names.slice(0, 2).join('.')) ?? params.get(names[0] ?? '');
}
