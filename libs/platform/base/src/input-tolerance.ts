/** The parts of a request's input other than the text of its messages. */
export interface InputParts {
  /** Images, and pages of documents. */
  readonly images: number;
  /** The part of the estimate for them. */
  readonly estimatedImageTokens: number;
  /** The request has tools or a JSON schema for the response. */
  readonly hasDefinitions: boolean;
}

export interface InputEstimate extends InputParts {
  /** All input, by the model's tokenizer and factor. */
  readonly estimatedInputTokens: number;
}

/**
 * How far a provider's prompt count may exceed our estimate and stay plausible. A
 * request whose cost has a maximum holds it.
 *
 * Text: current tokenizers differ by less than half of this allowance; models with
 * larger differences get a factor in the catalogue. Chat templates add a few dozen
 * tokens. Definitions: providers render tools and schemas in their own way, and add
 * instructions of some hundred tokens. Images: the formulas differ most. The text of a page may be dense.
 */
const INPUT_TOLERANCE = {
  textFactor: 2,
  textTokens: 128,
  definitionsTextFactor: 3,
  definitionsTokens: 1_024,
  imageFactor: 3,
  tokensPerImage: 1_000,
} as const;

/** The highest plausible number of prompt tokens. */
export function maxPlausiblePromptTokens(input: InputEstimate): number {
  const { textFactor, textTokens, definitionsTextFactor, definitionsTokens } = INPUT_TOLERANCE;
  const textTokenEstimate = Math.max(0, input.estimatedInputTokens - input.estimatedImageTokens);
  const maxTextTokens = input.hasDefinitions
    ? textTokenEstimate * definitionsTextFactor + textTokens + definitionsTokens
    : textTokenEstimate * textFactor + textTokens;
  return maxTextTokens + maxPlausibleImageTokens(input);
}

/** The highest plausible number of image tokens; zero without an image. */
export function maxPlausibleImageTokens({ images, estimatedImageTokens }: InputParts): number {
  return estimatedImageTokens * INPUT_TOLERANCE.imageFactor + images * INPUT_TOLERANCE.tokensPerImage;
}

/** Tokens with the 10 % that a hold adds to a count, since the provider's tokenizer may count more. */
export function withTokenMargin(tokens: number): number {
  return Math.ceil((tokens * 11) / 10);
}
