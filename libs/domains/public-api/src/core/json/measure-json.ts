const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The size of a JSON text in values, measured without parsing it. */
export interface JsonMeasure {
  /**
   * Commas and opening brackets outside strings: the number of values in arrays
   * and objects, plus one for each empty array or object.
   */
  readonly values: number;
  /** The deepest nesting of arrays and objects. */
  readonly depth: number;
}

/**
 * Measures JSON in one pass over its bytes, without allocation. Of an invalid
 * text, the part before the error is measured correctly, and a parser stops
 * there.
 *
 * @param enough - stops after this number of values.
 */
export function measureJson(bytes: Uint8Array, enough = Infinity): JsonMeasure {
  let values = 0;
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  // A loop instead of indexOf, so that millions of empty strings cost no more than one long string.
  for (let at = 0; at < bytes.length && values <= enough; at += 1) {
    const byte = bytes[at];
    if (isInString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isInString = false;
      continue;
    }
    switch (byte) {
      case QUOTE:
        isInString = true;
        break;
      case COMMA:
        values += 1;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values += 1;
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1;
        break;
      default:
    }
  }
  return { values, depth: deepest };
}
