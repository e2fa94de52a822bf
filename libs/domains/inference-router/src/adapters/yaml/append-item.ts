import { isCollection, isMap, isSeq, LineCounter, parseDocument, type Node, type ParsedNode } from 'yaml';

/** Not expressible as an insertion of lines. */
export class NotABlockList extends Error {
  constructor(list: string) {
    super(`${list}: is not a list with one "- …" per entry`);
  }
}

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
    throw new NotABlockList(list);
  }
  const indentation = ' '.repeat(lines.linePos(items.range[0]).col - 1);
  const newLine = text.includes('\r\n') ? '\r\n' : '\n';
  const added = item
    .trimEnd()
    .split('\n')
    .map((line) => `${line === '' ? '' : indentation}${line}${newLine}`)
    .join('');
  const end = text.indexOf('\n', endOf(items) - 1);
  if (end === -1) return `${text}${newLine}${newLine}${added}`;
  return `${text.slice(0, end + 1)}${newLine}${added}${text.slice(end + 1)}`;
}

/** The end of a node, without the line break and the comments after a block. */
export function endOf(node: Node): number {
  if (isCollection(node) && !node.flow) {
    const last = isMap(node) ? (node.items.at(-1)?.value ?? node.items.at(-1)?.key) : node.items.at(-1);
    if (last) return endOf(last as Node);
  }
  return node.range?.[1] ?? 0;
}
