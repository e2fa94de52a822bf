import { anchorOf, type Block } from './blocks';

/** Markdown as this project's formatter leaves it. */
export function markdownOf(blocks: readonly Block[]): string {
  return `${blocks.map(renderBlock).join('\n\n')}\n`;
}

function renderBlock(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `${'#'.repeat(block.level)} ${block.text}`;
    case 'paragraph':
      return block.text;
    case 'links':
      return `${block.before} ${block.headings.map((text) => `[\`${text}\`](#${anchorOf(text)})`).join(', ')}`;
    case 'code':
      return `\`\`\`${block.language}\n${block.text.trimEnd()}\n\`\`\``;
    case 'table':
      return renderTable(block.head, block.rows);
  }
}

/** Columns padded to one width each. */
function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replace(/\|/g, '\\|')));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = [], ...rest] = cells;
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n');
}
