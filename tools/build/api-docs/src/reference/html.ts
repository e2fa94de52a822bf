import { anchorOf, type Block } from './blocks';

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 3rem auto; padding: 0 1rem; }
h2, h3 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
code, pre { font: 0.85em/1.5 ui-monospace, monospace; }
code { background: var(--soft); padding: 0.1em 0.3em; border-radius: 4px; }
pre { background: var(--soft); padding: 0.8rem 1rem; overflow-x: auto; border-radius: 6px; }
pre code { background: none; padding: 0; font-size: 1em; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid var(--line); }
`;

/** One page without scripts, fonts or anything else from elsewhere. */
export function htmlOf(title: string, blocks: readonly Block[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${blocks.map(renderBlock).join('\n')}
</main>
</body>
</html>
`;
}

function renderBlock(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.level} id="${anchorOf(block.text)}">${inline(block.text)}</h${block.level}>`;
    case 'paragraph':
      return `<p>${inline(block.text)}</p>`;
    case 'links': {
      const targets = block.headings.map(
        (text) => `<a href="#${anchorOf(text)}"><code>${escapeHtml(text)}</code></a>`,
      );
      return `<p>${inline(block.before)} ${targets.join(', ')}</p>`;
    }
    case 'code':
      return `<pre><code>${escapeHtml(block.text.trimEnd())}</code></pre>`;
    case 'table':
      return renderTable(block.head, block.rows);
  }
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[], tag: 'th' | 'td') =>
    `<tr>${row.map((cell) => `<${tag}>${inline(cell)}</${tag}>`).join('')}</tr>`;
  return `<div class="table"><table>
<thead>${cells(head, 'th')}</thead>
<tbody>
${rows.map((row) => cells(row, 'td')).join('\n')}
</tbody>
</table></div>`;
}

function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
