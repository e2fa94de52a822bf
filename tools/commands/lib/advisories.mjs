/**
 * Compares a report of `pnpm audit --json` with the list of accepted advisories.
 *
 * @param report `advisories` by number
 * @param accepted advisories with `id`, `package`, `reason` and `until` (YYYY-MM-DD)
 * @param today YYYY-MM-DD
 * @returns problems as text; none if every advisory is accepted and every accepted one still applies
 */
export function auditProblems({ advisories }, accepted, today) {
  const found = new Map(Object.values(advisories).map((advisory) => [advisoryId(advisory), advisory]));
  const problems = [];
  for (const [id, { module_name: name, severity, title, vulnerable_versions: range }] of found) {
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
