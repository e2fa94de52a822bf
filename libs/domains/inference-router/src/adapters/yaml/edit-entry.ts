import { isDeepStrictEqual } from 'node:util';
import {
  Document,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Node,
  type YAMLMap,
} from 'yaml';
import type { EntryEdit, EntryKind } from '../../core/catalogue/managed-catalogue';
import { appendItem, NotABlockList } from './append-item';

type Entry = Readonly<Record<string, unknown>>;
type List = 'providers' | 'models';

const LISTS: Readonly<Record<EntryKind, List>> = { provider: 'providers', model: 'models' };
const STYLE = { lineWidth: 0, singleQuote: true, verifyAliasOrder: false } as const;

/** The message is for people. */
export class CannotEdit extends Error {}

/** The entries of a text as written, without defaults. None of a text that is not YAML, or has no lists. */
export function writtenEntries(text: string): Readonly<Record<EntryKind, readonly Entry[]>> {
  const document = parseDocument(text);
  const value: unknown = document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: 100 });
  const listOf = (kind: EntryKind) => {
    const items = isObject(value) ? value[LISTS[kind]] : undefined;
    return Array.isArray(items) ? items.map((item: unknown) => (isObject(item) ? item : {})) : [];
  };
  return { provider: listOf('provider'), model: listOf('model') };
}

/**
 * The text with one entry added, replaced or removed. The comments of the entry stay, and so does every byte
 * of the others.
 *
 * @throws CannotEdit, or NotABlockList for a list in brackets.
 */
export function withEntry(text: string, { kind, index, entry }: EntryEdit): string {
  const list = LISTS[kind];
  if (index === undefined) return entry === undefined ? text : added(text, list, entry);
  const lines = new LineCounter();
  const document = readable(text, lines);
  const items = document.get(list, true);
  const item = isSeq(items) ? items.items[index] : undefined;
  if (!isSeq(items) || !isMap(item) || !item.range) throw new CannotEdit('The text has no such entry.');
  if (items.flow) throw new NotABlockList(list);
  const [start, end] = item.range;
  if (entry === undefined) {
    const lineStart = lines.lineStarts[lines.linePos(start).line - 1] ?? start;
    return `${text.slice(0, lineStart)}${text.slice(text[end - 1] === '\n' ? end : endOfLine(text, end))}`;
  }
  if (isDeepStrictEqual(item.toJS(document), entry)) return text;
  // The comments around the item are not part of its range.
  Object.assign(item, { comment: undefined, commentBefore: undefined, spaceBefore: undefined });
  removeCommentAfter(item);
  merge(document, item, entry);
  const indentation = ' '.repeat(lines.linePos(start).col - 1);
  const rendered = render(item, text).replaceAll(/\n(?=[^\r\n])/g, `\n${indentation}`);
  const isWithLineBreak = text[end - 1] === '\n';
  return `${text.slice(0, start)}${isWithLineBreak ? rendered : rendered.trimEnd()}${text.slice(end)}`;
}

function readable(text: string, lineCounter?: LineCounter): Document.Parsed {
  const document = parseDocument(text, lineCounter && { lineCounter });
  if (document.errors.length > 0) throw new CannotEdit('The text is not valid YAML. Fix its errors first.');
  return document;
}

function added(text: string, list: List, entry: Entry): string {
  const item = render(new Document([entry]).contents as Node, '');
  const items = readable(text).get(list, true);
  const isMissing = items === undefined || (isScalar(items) && items.value === null);
  if (!isMissing) return appendItem(text, list, item);
  const indented = item.replaceAll(/^(?=.)/gm, '  ');
  const key = new RegExp(`^${list}:[^\\S\\n]*(?:#.*)?$`, 'm').exec(text);
  if (!key) return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${list}:\n${indented}`;
  const end = key.index + key[0].length;
  return `${text.slice(0, end)}\n${indented.trimEnd()}${text.slice(end) || '\n'}`;
}

/** Changes only what differs, so that comments and quotes of everything else stay. */
function merge(document: Document, map: YAMLMap, value: Entry): void {
  for (const { key } of [...map.items]) {
    if (!Object.hasOwn(value, nameOf(key))) map.delete(key);
  }
  for (const [name, part] of Object.entries(value)) {
    const old = map.get(name, true) as Node | undefined;
    map.set(name, merged(document, old, part));
  }
}

function merged(document: Document, old: Node | undefined, value: unknown): unknown {
  if (!old) return document.createNode(value);
  if (isDeepStrictEqual(old.toJS(document), value)) return old;
  if (isMap(old) && isObject(value)) {
    merge(document, old, value);
    return old;
  }
  if (isSeq(old) && Array.isArray(value)) {
    old.items = value.map((part, index) => merged(document, old.items[index] as Node | undefined, part));
    return old;
  }
  const { comment, commentBefore, spaceBefore } = old;
  const type = isScalar(old) && typeof value === 'string' ? { type: old.type } : {};
  return Object.assign(document.createNode(value), { comment, commentBefore, spaceBefore, ...type });
}

/** A block ends before the comments after it, which the parser adds to the innermost block. */
function removeCommentAfter(block: unknown): void {
  if (!isCollection(block) || block.flow) return;
  block.comment = undefined;
  const last = block.items.at(-1);
  removeCommentAfter(isPair(last) ? last.value : last);
}

function nameOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

function render(node: Node, text: string): string {
  const document = new Document();
  document.contents = node as never;
  const rendered = document.toString(STYLE);
  return text.includes('\r\n') ? rendered.replaceAll('\n', '\r\n') : rendered;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end + 1;
}

export function isObject(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
