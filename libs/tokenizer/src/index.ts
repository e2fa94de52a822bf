export {
  createTokenCounter,
  MAX_INLINE_BYTES,
  MAX_TOKENIZED_LENGTH,
  type ClosableTokenCounter,
  type CountingWay,
  type TokenCounter,
  type TokenCounterOptions,
} from './token-counter';
