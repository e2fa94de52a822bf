const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Where a body is searched. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * The texts of a field, as JSON writes them. The bytes are searched, since parsing a large body blocks the event loop: the
 * edge writes bodies without white space, and quotes within strings are escaped.
 *
 * @param field the name and the first quote of the text, such as `"id":"`.
 * @returns undefined for a text of more than `maxBytes`.
 */
export function* textsOfField(
  body: Buffer,
  field: Buffer,
  maxBytes: number,
  { from, to }: Range = { from: 0, to: body.length },
): Generator<string | undefined> {
  for (let at = body.indexOf(field, from); at !== -1 && at < to; at = body.indexOf(field, at + 1)) {
    const start = at + field.length;
    const text = body.subarray(start, start + maxBytes + 1);
    const end = endOfText(text);
    yield end === -1 ? undefined : text.toString('utf8', 0, end);
  }
}

function endOfText(text: Buffer): number {
  for (let end = text.indexOf(QUOTE); end !== -1; end = text.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return -1;
}
