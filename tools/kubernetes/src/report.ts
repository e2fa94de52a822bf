/** How a step went. */
export interface StepResult {
  readonly name: string;
  readonly durationMs: number;
  readonly failed: boolean;
  /** What there is to say of it, or why it failed. */
  readonly note: string;
}

/** One table, for a terminal and for the documentation. */
export function renderTable(results: readonly StepResult[]): string {
  const rows = results.map(({ name, durationMs, failed, note }) => [
    name,
    `${(durationMs / 1_000).toFixed(0)} s`,
    failed ? 'failed' : 'passed',
    // A line of a table is one line.
    note.replaceAll(/\s*\n\s*/g, '; ').replaceAll('|', '\\|'),
  ]);
  const header = ['step', 'time', 'result', 'what was seen'];
  return [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
