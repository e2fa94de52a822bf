export const ROUTER = 'libs/domains/inference-router/src';
export const GENERATION = `${ROUTER}/core/generation`;

const [usage, finalize, run] = ['usage', 'finalize-generation', 'generation-run'].map(
  (name) => `${GENERATION}/${name}.ts`,
);

/** Each breaks one rule of docs/concepts/who-pays-when.md. */
export const routerBugs = [
  {
    file: usage,
    what: 'a report of far more input than was sent is accepted',
    right: 'promptTokens <= Math.min(contextLength, maxPlausiblePromptTokens(input))',
    wrong: 'promptTokens <= contextLength',
  },
  {
    file: usage,
    what: 'a report of far less input than was sent is accepted',
    right: 'promptTokens > 0 && !isTooLow &&',
    wrong: 'promptTokens > 0 &&',
  },
  {
    file: usage,
    what: 'a report of more output than the limit is accepted',
    right:
      'return reported.completionTokens <= maxCompletionTokens + completions * SLACK_TOKENS_PER_COMPLETION;',
    wrong: 'return true;',
  },
  {
    file: usage,
    what: 'a report of less output than was counted is accepted',
    right: 'if (isOutputTooLow(reported.completionTokens, countedCompletionTokens)) return false;',
    wrong: '',
  },
  {
    file: finalize,
    what: 'output is never counted where its report may be too low',
    right: 'const counted = isTooLow ? await countUsage(ports, scope, result, texts) : undefined;',
    wrong: 'const counted = undefined;',
  },
  {
    file: finalize,
    what: 'an implausible input is charged by the estimate, not by the bytes that were sent',
    right: '...(exceedsEstimate',
    wrong: '...(false',
  },
  {
    file: usage,
    what: 'a request with a maximum cost is charged more input than it holds',
    right: 'const promptTokens = Math.min(reported.promptTokens, maxPromptTokens);',
    wrong: 'const promptTokens = reported.promptTokens;',
  },
  {
    file: usage,
    what: 'a reported output is charged beyond an elastic hold',
    right: 'Math.min(reported.completionTokens, maxCompletionTokens, heldCompletionTokens)',
    wrong: 'Math.min(reported.completionTokens, maxCompletionTokens)',
  },
  {
    file: finalize,
    what: 'a counted output is charged beyond an elastic hold',
    right: 'Math.min(request.maxOutputTokens * request.n, result.heldOutputTokens ?? Infinity)',
    wrong: 'request.maxOutputTokens * request.n',
  },
  {
    file: finalize,
    what: 'a target that bills hidden output keeps elastic holds',
    right: 'ports.hiddenOutput.add(targetKey(result.target));',
    wrong: 'void targetKey;',
  },
  {
    file: `${ROUTER}/core/completion/completion-stream.ts`,
    what: 'a report that output follows is accepted',
    right: 'return this.latestUsage && this.isUsageEarly',
    wrong: 'return this.latestUsage && this.isUsageEarly === undefined',
  },
  {
    file: run,
    what: 'a request that is cancelled before its response owes nothing',
    right: 'const owesPrompt = this.isSent && !this.stopped && !this.deadlinePassed();',
    wrong: 'const owesPrompt = false;',
  },
  {
    file: run,
    what: 'a passed deadline is charged',
    right: 'this.isSent && !this.stopped && !this.deadlinePassed()',
    wrong: 'this.isSent && !this.stopped',
  },
  {
    file: run,
    what: 'a stop of the router is charged',
    right: 'this.isSent && !this.stopped && !this.deadlinePassed()',
    wrong: 'this.isSent && !this.deadlinePassed()',
  },
  {
    file: run,
    what: 'a request that was not sent owes its prompt',
    right: 'this.isSent && !this.stopped && !this.deadlinePassed()',
    wrong: '!this.stopped && !this.deadlinePassed()',
  },
];
