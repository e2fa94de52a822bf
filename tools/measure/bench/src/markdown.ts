/** A table in Markdown: the first line is its head; all columns after the first `leftColumns` are figures. */
export function renderMarkdown(lines: readonly (readonly string[])[], leftColumns: number): string {
  const [head = [], ...rest] = lines;
  const widths = head.map((_, column) => Math.max(3, ...lines.map((line) => (line[column] ?? '').length)));
  const render = (line: readonly string[]) =>
    `| ${widths.map((width, column) => padded(line[column] ?? '', width, column < leftColumns)).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column < leftColumns ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [render(head), `| ${rule.join(' | ')} |`, ...rest.map(render)].join('\n');
}

function padded(text: string, width: number, isLeft: boolean): string {
  return isLeft ? text.padEnd(width) : text.padStart(width);
}
