// Generates the part of docs/reference/service-access.md between its two marks.

const START = '<!-- generated: access -->';
const END = '<!-- end of access -->';

/** A heading per service, and a line per set of callers with their methods. */
export function renderAccess({ callers, servers }) {
  return Object.entries(servers)
    .map(([service, names]) => {
      const byCallers = new Map();
      for (const [rpc, allowed] of Object.entries(callers)) {
        const [of, method] = rpc.split('/');
        if (of !== service) continue;
        const key = allowed.join(', ');
        byCallers.set(key, [...(byCallers.get(key) ?? []), `\`${method}\``]);
      }
      const lines = [...byCallers].map(([key, methods]) => `- ${key}: ${methods.join(', ')}`);
      return `### \`${service}\`\n\nServed by ${names.join(' and ')}.\n\n${lines.join('\n')}`;
    })
    .join('\n\n');
}

export function withAccess(page, rendered) {
  const [before, after] = [page.indexOf(START), page.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`the page has no ${START}`);
  return `${page.slice(0, before + START.length)}\n\n${rendered}\n\n${page.slice(after)}`;
}
