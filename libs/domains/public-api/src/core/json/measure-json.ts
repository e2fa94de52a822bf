const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** How much a parser would make of a text, known before it makes anything. */
export interface JsonMeasure {
  /**
   * Commas and opening brackets outside strings: as many as there are values in
   * arrays and objects, and one more for each array or object that is empty.
   */
  readonly values: number;
  /** Levels of arrays and objects at the deepest place. */
  readonly depth: number;
}

/**
 * Measures JSON in one pass over its bytes, without allocating anything. For a
 * text that breaks off or is no JSON at all, what comes before the fault is
 * measured right, and a parser gets no further than the fault.
 *
 * @param enough - values beyond which nothing more is worth knowing.
 */
export function measureJson(bytes: Uint8Array, enough = Infinity): JsonMeasure {
  let values = 0;
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  // A loop rather than a search from quote to quote: eight million empty strings must not cost more than one long one.
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
