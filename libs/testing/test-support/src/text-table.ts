type Rows = readonly (readonly string[])[];

/** A Markdown table; the first row is the heading, and columns after the first `leftColumns` are right-aligned. */
export function markdownTable([head = [], ...rows]: Rows, leftColumns = head.length): string {
  const rule = head.map((_, column) => (column < leftColumns ? '---' : '---:'));
  return [head, rule, ...rows]
    .map((row) => `| ${head.map((_, column) => cell(row[column])).join(' | ')} |`)
    .join('\n');
}

/** A Markdown row is one line, and a bar ends a cell. */
function cell(text = ''): string {
  return text.replaceAll(/\s*\n\s*/g, '; ').replaceAll('|', '\\|');
}

/** Columns aligned with spaces; those after the first `leftColumns` are right-aligned. */
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
