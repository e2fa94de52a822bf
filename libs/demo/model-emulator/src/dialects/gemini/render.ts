import { argumentsOf, type Choice, type Completion } from '../../completion';
import type { UsageFault } from '../../faults';
import { countTokens, joinText } from '../../tokens';
import { renderLogprobs } from './logprobs';
import { signatureOf, signedCallText } from './signature';

const FINISH_REASONS = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
} as const;

interface Part {
  readonly text?: string;
  readonly thought?: true;
  readonly functionCall?: { readonly name: string; readonly args: unknown };
  readonly thoughtSignature?: string;
}

/** A part of a stream, with the tokens that it adds. */
interface Step {
  readonly part: Part;
  readonly tokens: number;
  readonly logprobsResult?: object;
}

/** The body of `generateContent`. */
export function renderCompletion(completion: Completion, usageFault: UsageFault | undefined): string {
  const { completionTokens, reasoningTokens } = completion.usage;
  const candidates = completion.choices.map((choice, index) => ({
    content: { parts: joinTexts([...stepsOf(completion, choice)].map(({ part }) => part)), role: 'model' },
    finishReason: FINISH_REASONS[choice.finishReason],
    // As in protobuf's JSON, the index 0 is omitted.
    ...(index === 0 ? {} : { index }),
    ...renderLogprobs(choice.content, completion.topLogprobs),
  }));
  const usage = usageOf(completion, completionTokens - reasoningTokens, usageFault);
  return JSON.stringify({ candidates, ...usage, ...identity(completion) });
}

/** The events of `streamGenerateContent`. Each reports the usage so far; the last has the finish reason. */
export function* renderEvents(
  completion: Completion,
  usageFault: UsageFault | undefined,
): Generator<string, void, void> {
  const [choice] = completion.choices;
  if (choice === undefined) return;
  let tokens = 0;
  let previous: Step | undefined;
  for (const step of stepsOf(completion, choice)) {
    if (previous !== undefined) yield renderEvent(completion, previous, undefined, tokens, usageFault);
    if (step.part.thought === undefined) tokens += step.tokens;
    previous = step;
  }
  const last = previous ?? { part: { text: '' }, tokens: 0 };
  yield renderEvent(completion, last, FINISH_REASONS[choice.finishReason], tokens, usageFault);
}

function renderEvent(
  completion: Completion,
  { part, logprobsResult }: Step,
  finishReason: string | undefined,
  tokens: number,
  usageFault: UsageFault | undefined,
): string {
  const candidate = {
    content: { parts: [part], role: 'model' },
    ...(finishReason === undefined ? {} : { finishReason }),
    index: 0,
    ...(logprobsResult === undefined ? {} : { logprobsResult }),
  };
  return JSON.stringify({
    candidates: [candidate],
    ...usageOf(completion, tokens, usageFault),
    ...identity(completion),
  });
}

function* stepsOf(completion: Completion, choice: Choice): Generator<Step, void, void> {
  if (completion.showsReasoning) {
    for (const { text, tokens } of choice.reasoning) yield { part: { text, thought: true }, tokens };
  }
  for (const segment of choice.content) {
    const { text, tokens } = segment;
    yield { part: { text }, tokens, ...renderLogprobs([segment], completion.topLogprobs) };
  }
  const isSigned = choice.reasoning.length > 0;
  for (const [index, { name, segments }] of choice.toolCalls.entries()) {
    const functionCall = { name, args: argumentsOf({ segments }) };
    const tokens = segments.reduce((sum, segment) => sum + segment.tokens, countTokens(name));
    // Gemini signs only the first of parallel calls.
    const isFirst = isSigned && index === 0;
    const signature = isFirst
      ? signatureOf(signedCallText(name, JSON.stringify(functionCall.args)))
      : undefined;
    yield {
      part: { functionCall, ...(signature === undefined ? {} : { thoughtSignature: signature }) },
      tokens,
    };
  }
  if (isSigned && choice.toolCalls.length === 0) {
    const text = joinText(choice.content);
    yield { part: { text: '', thoughtSignature: signatureOf(text) }, tokens: 0 };
  }
}

/** Neighboring texts of a kind are one part. */
function joinTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.text !== undefined && last?.text !== undefined && last.thought === part.thought) {
      joined[joined.length - 1] = { ...last, ...part, text: last.text + part.text };
    } else {
      joined.push(part);
    }
  }
  return joined;
}

/** @param tokens of the candidates so far, without thoughts. */
function usageOf({ usage }: Completion, tokens: number, fault: UsageFault | undefined): object {
  if (fault?.kind === 'none') return {};
  const isFixed = fault !== undefined;
  const prompt = fault?.prompt ?? usage.promptTokens;
  const candidates = fault?.completion ?? tokens;
  const thoughts = isFixed ? 0 : usage.reasoningTokens;
  const usageMetadata = {
    promptTokenCount: prompt,
    ...positive('candidatesTokenCount', candidates),
    totalTokenCount: prompt + candidates + thoughts,
    ...(isFixed ? {} : positive('cachedContentTokenCount', usage.cachedTokens)),
    ...positive('thoughtsTokenCount', thoughts),
  };
  return { usageMetadata };
}

/** Protobuf's JSON omits zeros. */
function positive(name: string, value: number): object {
  return value === 0 ? {} : { [name]: value };
}

function identity({ id, modelName }: Completion): object {
  return { modelVersion: modelName, responseId: id };
}
