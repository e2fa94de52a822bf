import {
  allEndpoints,
  allParts,
  isPermission,
  nameOf,
  OWNERS,
  type Access,
} from '@gateway/dashboard-contract';

/** The endpoints of each owner, by the access that it checks. */
export function endpointOwnersReference(): string {
  const all = [...allEndpoints(), ...allParts()];
  return OWNERS.map((owner) => {
    const byAccess = new Map<Access, string[]>();
    for (const endpoint of all.filter((each) => each.owner === owner)) {
      const names = byAccess.get(endpoint.access) ?? [];
      byAccess.set(endpoint.access, [...names, `  - \`${nameOf(endpoint)}\``]);
    }
    const lines = [...byAccess].map(([access, names]) => `- ${textOf(access)}:\n${names.join('\n')}`);
    return `### Endpoints of ${owner}\n\n${lines.join('\n')}`;
  }).join('\n\n');
}

function textOf(access: Access): string {
  if (access === 'anyone') return 'anyone';
  if (isPermission(access)) return `a person with \`${access}\``;
  return access === 'signed_in' ? 'a person' : 'a person or management token';
}
