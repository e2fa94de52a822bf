import { asObject, type JsonObject } from '../../completion/json';
import { readDocument } from '../documents';
import { refused } from '../failures';

/** "DocumentBlock", `name`: at most 200 characters. Space for a number that distinguishes equal names. */
const MAX_NAME_LENGTH = 190;

export function documentBlock(file: unknown, path: string): JsonObject {
  const document = readDocument(file);
  if (!document) throw refused(path, 'Documents must be base64 data: URIs of the type application/pdf.');
  const { name, data } = document;
  return { document: { format: 'pdf', name: fitName(name), source: { bytes: data } } };
}

/**
 * "DocumentBlock", `name`: letters and digits, single spaces, hyphens, parentheses and square brackets. Other
 * characters become hyphens.
 */
function fitName(name: string): string {
  const fit = name
    .replace(/\.pdf$/i, '')
    .replace(/[^a-zA-Z0-9\s\-()[\]]/g, '-')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_NAME_LENGTH)
    .trimEnd();
  return fit === '' ? 'document' : fit;
}

interface Turn {
  readonly role: string;
  readonly content: JsonObject[];
}

/** Bedrock requires different names in a request, and a text with the documents of a turn. */
export function fitDocuments(turns: readonly Turn[]): void {
  const names = new Set<string>();
  for (const { content } of turns) {
    renameDocuments(content, names);
    for (const block of content) {
      const result = asObject(block['toolResult'])?.['content'];
      if (Array.isArray(result)) renameDocuments(result as JsonObject[], names);
    }
    const document = content.find((block) => 'document' in block);
    if (document && !content.some((block) => 'text' in block))
      content.unshift({ text: asObject(document['document'])?.['name'] });
  }
}

function renameDocuments(blocks: JsonObject[], names: Set<string>): void {
  for (const [index, block] of blocks.entries()) {
    const document = asObject(block['document']);
    if (!document) continue;
    const given = String(document['name']);
    let name = given;
    for (let number = 2; names.has(name); number += 1) name = `${given} (${number})`;
    names.add(name);
    blocks[index] = { document: { ...document, name } };
  }
}
