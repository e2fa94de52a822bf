type Rows = readonly (readonly string[])[];

/** A table in Markdown: the first row is its head; columns after the first `leftColumns` are figures. */
export function markdownTable([head = [], ...rows]: Rows, leftColumns = head.length): string {
  const rule = head.map((_, column) => (column < leftColumns ? '---' : '---:'));
  return [head, rule, ...rows]
    .map((row) => `| ${head.map((_, column) => cell(row[column])).join(' | ')} |`)
    .join('\n');
}

/** A row of Markdown is one line, and a bar ends a cell. */
function cell(text = ''): string {
  return text.replaceAll(/\s*\n\s*/g, '; ').replaceAll('|', '\\|');
}

/** Columns aligned by spaces; those after the first `leftColumns` are aligned to the right. */
export function alignedTable(rows: Rows, leftColumns: number): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      widths
        .map((width, column) =>
          column < leftColumns ? (row[column] ?? '').padEnd(width) : (row[column] ?? '').padStart(width),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
