const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The texts of a field, as JSON writes them. The bytes are searched, since parsing a large body blocks the event loop: the
 * edge writes bodies without white space, and quotes within strings are escaped.
 *
 * @param field the name and the first quote of the text, such as `"id":"`.
 */
export function* textsOfField(body: Buffer, field: Buffer): Generator<string> {
  for (let at = body.indexOf(field); at !== -1; at = body.indexOf(field, at + 1)) {
    const start = at + field.length;
    yield body.toString('utf8', start, endOfText(body, start));
  }
}

function endOfText(body: Buffer, start: number): number {
  let end = body.indexOf(QUOTE, start);
  while (end !== -1 && isEscaped(body, end)) end = body.indexOf(QUOTE, end + 1);
  return end === -1 ? body.length : end;
}

function isEscaped(body: Buffer, at: number): boolean {
  let escapes = 0;
  while (body[at - 1 - escapes] === BACKSLASH) escapes += 1;
  return escapes % 2 === 1;
}
