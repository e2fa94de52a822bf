export {
  createTokenizer,
  MAX_INLINE_BYTES,
  MAX_INLINE_WORK,
  MAX_TOKENIZED_LENGTH,
  type CountMethod,
  type TextSize,
  type TokenCounter,
  type Tokenizer,
  type TokenizerOptions,
} from './tokenizer';
