import { isCollection, isMap, isSeq, LineCounter, parseDocument, type ParsedNode, type Range } from 'yaml';

/** Not expressible as an insertion of lines. */
export class NotABlockList extends Error {}

/**
 * Appends an item to a list of a models file as text, so that every other byte of the file stays as it is.
 *
 * @param item YAML that starts with "- ", without indentation.
 * @throws NotABlockList if the list is not one with an item per line.
 */
export function appendItem(text: string, list: 'providers' | 'models', item: string): string {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const items = document.get(list, true) as ParsedNode | undefined;
  if (!isSeq(items) || items.flow || items.items.length === 0) {
    throw new NotABlockList(`${list}: is not a list with one "- …" per entry`);
  }
  const indentation = ' '.repeat(lines.linePos(items.range[0]).col - 1);
  const newLine = text.includes('\r\n') ? '\r\n' : '\n';
  const added = item
    .trimEnd()
    .split('\n')
    .map((line) => `${line === '' ? '' : indentation}${line}${newLine}`)
    .join('');
  const end = text.indexOf('\n', endOf(items));
  if (end === -1) return `${text}${newLine}${newLine}${added}`;
  return `${text.slice(0, end + 1)}${newLine}${added}${text.slice(end + 1)}`;
}

/** The offset of the last character of a node, without the comments after it. */
function endOf(node: ParsedNode): number {
  if (isCollection(node) && !node.flow) {
    const last = isMap(node) ? node.items.at(-1) : undefined;
    const child = isMap(node) ? (last?.value ?? last?.key) : node.items.at(-1);
    if (child) return endOf(child as ParsedNode);
  }
  return (node.range as Range)[1] - 1;
}
