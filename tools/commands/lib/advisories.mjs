/**
 * Compares a report of `npm audit --json` with the list of accepted advisories.
 *
 * @param report `vulnerabilities` by package; each `via` is an advisory, or the name of the package that has it
 * @param accepted advisories with `id`, `package`, `reason` and `until` (YYYY-MM-DD)
 * @param today YYYY-MM-DD
 * @returns problems as text; none if every advisory is accepted and every accepted one still applies
 */
export function auditProblems({ vulnerabilities }, accepted, today) {
  const found = new Map();
  for (const { via } of Object.values(vulnerabilities)) {
    for (const advisory of via) {
      if (typeof advisory === 'object') found.set(advisoryId(advisory), advisory);
    }
  }
  const problems = [];
  for (const [id, { name, severity, title, range }] of found) {
    const entry = accepted.find((each) => each.id === id && each.package === name);
    if (!entry) problems.push(`${id}: ${name} ${range} (${severity}): ${title}`);
    else if (entry.until < today) problems.push(`${id}: accepted for ${name} until ${entry.until} only`);
  }
  for (const { id, package: name } of accepted) {
    if (!found.has(id))
      problems.push(`${id}: accepted for ${name}, but no longer reported; remove the entry`);
  }
  return problems.sort();
}

/** The id that GitHub, npm and OSV share, which the URL ends in. */
function advisoryId({ url }) {
  return url.slice(url.lastIndexOf('/') + 1);
}
