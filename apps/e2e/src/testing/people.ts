import type { AdminClient } from '@gateway/test-support';

export const PASSWORD = 'four words in a row';

export type Role = 'owner' | 'admin' | 'developer' | 'billing' | 'member';

/** Invites a person to an organization; returns the invitation link. */
export async function inviteTo(
  admin: AdminClient,
  organizationId: string,
  email: string,
  role: Role,
): Promise<string> {
  const { link } = await admin.call<{ link: string }>(
    'POST',
    `/api/organizations/${organizationId}/invitations`,
    { email, role },
  );
  return link;
}

/** Creates a person with an account and a role, who signs in with `PASSWORD`. */
export async function personWith(
  admin: AdminClient,
  dashboardUrl: string,
  {
    organizationId,
    email,
    role,
    name = '',
  }: { organizationId: string; email: string; role: Role; name?: string },
): Promise<void> {
  const token = (await inviteTo(admin, organizationId, email, role)).split('#')[1];
  const response = await fetch(`${dashboardUrl}/api/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, password: PASSWORD, name }),
  });
  if (!response.ok)
    throw new Error(`accepting the invitation returned ${response.status}: ${await response.text()}`);
  await response.body?.cancel();
}
