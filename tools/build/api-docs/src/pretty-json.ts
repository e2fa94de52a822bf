import { isJsonObject, type JsonValue } from '@gateway/public-api';

const INDENT = '  ';
const MAX_WIDTH = 110;

/**
 * JSON as Prettier formats it: a member per line, and lists of plain values on one line where they fit. So generated files
 * need no formatting.
 */
export function prettyJson(value: JsonValue): string {
  return render(value, '', 0);
}

/** @param taken - characters of the line before the value, and of a comma after it. */
function render(value: JsonValue, indent: string, taken: number): string {
  const inner = indent + INDENT;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    if (value.every(isPlain)) {
      const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
      if (taken + line.length <= MAX_WIDTH) return line;
    }
    const items = value.map((item) => inner + render(item, inner, inner.length + 1));
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member], index, all) => {
    const head = `${inner}${JSON.stringify(name)}: `;
    const comma = index < all.length - 1 ? 1 : 0;
    return head + render(member, inner, head.length + comma);
  });
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
}

function isPlain(value: JsonValue): boolean {
  return typeof value !== 'object' || value === null;
}
