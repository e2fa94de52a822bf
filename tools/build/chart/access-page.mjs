// Generates the part of docs/reference/service-access.md between its two marks.

const START = '<!-- generated: access -->';
const END = '<!-- end of access -->';

/** A heading per service, a line per set of callers with their methods, and a line per right of the person. */
export function renderAccess({ callers, servers, permissions, withoutPerson }) {
  return Object.entries(servers)
    .map(([service, names]) => {
      const byCallers = methodsByValue(
        service,
        mapValues(callers, (allowed) => allowed.join(', ') || 'closed'),
      );
      const byRight = methodsByValue(service, {
        ...mapValues(permissions, rightOf),
        ...mapValues(withoutPerson, (reason) => `no person; needs ${reason}`),
      });
      const rights = byRight.length === 0 ? '' : `\n\nOf calls for people:\n\n${byRight.join('\n')}`;
      return `### \`${service}\`\n\nServed by ${names.join(', ')}.\n\n${byCallers.join('\n')}${rights}`;
    })
    .join('\n\n');
}

function rightOf(permission) {
  if (permission === 'signed_in') return 'a person';
  if (permission === 'authenticated') return 'a person or management token';
  if (permission === 'endpoint') return 'what the endpoint requires';
  return `a person with \`${permission}\``;
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

/** A line per value, with the methods of the service that have it. */
function methodsByValue(service, valueOfRpc) {
  const methods = new Map();
  for (const [rpc, value] of Object.entries(valueOfRpc)) {
    const [of, method] = rpc.split('/');
    if (of === service) methods.set(value, [...(methods.get(value) ?? []), `\`${method}\``]);
  }
  return [...methods].map(([value, names]) => `- ${value}: ${names.join(', ')}`);
}

export function withAccess(page, rendered) {
  const [before, after] = [page.indexOf(START), page.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`the page has no ${START}`);
  return `${page.slice(0, before + START.length)}\n\n${rendered}\n\n${page.slice(after)}`;
}
