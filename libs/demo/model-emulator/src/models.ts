/** The capabilities and limits of an emulated model. Limits are in tokens. */
export interface EmulatedModel {
  readonly id: string;
  readonly contextWindow: number;
  readonly maxOutput: number;
  readonly tools: boolean;
  readonly vision: boolean;
  readonly jsonMode: boolean;
  /** Accepted `reasoning_effort` levels with their reasoning tokens; empty: no reasoning. */
  readonly reasoningTokens: Readonly<Record<string, number>>;
  /** Whether the reasoning text is returned as `reasoning_content`. */
  readonly showsReasoning: boolean;
}

const NO_REASONING: Readonly<Record<string, number>> = {};

export const EMULATED_MODELS: readonly EmulatedModel[] = [
  {
    id: 'emu-small',
    contextWindow: 8_192,
    maxOutput: 2_048,
    tools: false,
    vision: false,
    jsonMode: false,
    reasoningTokens: NO_REASONING,
    showsReasoning: false,
  },
  {
    id: 'emu-standard',
    contextWindow: 131_072,
    maxOutput: 16_384,
    tools: true,
    vision: false,
    jsonMode: true,
    reasoningTokens: NO_REASONING,
    showsReasoning: false,
  },
  {
    id: 'emu-vision',
    contextWindow: 131_072,
    maxOutput: 16_384,
    tools: true,
    vision: true,
    jsonMode: true,
    reasoningTokens: NO_REASONING,
    showsReasoning: false,
  },
  {
    id: 'emu-reasoner',
    contextWindow: 200_000,
    maxOutput: 65_536,
    tools: true,
    vision: true,
    jsonMode: true,
    reasoningTokens: { low: 32, medium: 128, high: 512 },
    showsReasoning: true,
  },
  {
    id: 'emu-reasoner-quiet',
    contextWindow: 200_000,
    maxOutput: 65_536,
    tools: true,
    vision: false,
    jsonMode: true,
    reasoningTokens: { minimal: 0, low: 32, medium: 128, high: 512 },
    showsReasoning: false,
  },
  {
    id: 'emu-long',
    contextWindow: 1_048_576,
    maxOutput: 131_072,
    tools: true,
    vision: true,
    jsonMode: true,
    reasoningTokens: NO_REASONING,
    showsReasoning: false,
  },
];

const byId = new Map(EMULATED_MODELS.map((model) => [model.id, model]));

export function findModel(id: string): EmulatedModel | undefined {
  return byId.get(id);
}

/** The response of `GET /v1/models`, with OpenAI's fields only. */
export function listModels(): string {
  return JSON.stringify({
    object: 'list',
    data: EMULATED_MODELS.map(({ id }) => ({
      id,
      object: 'model',
      created: 1_764_000_000,
      owned_by: 'model-emulator',
    })),
  });
}
