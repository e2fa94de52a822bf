import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { usePermission } from '../../api/session';
import { Confirm } from '../../ui/confirm';
import { Select } from '../../ui/field';
import { useToast } from '../../ui/toast';
import { Text, visible } from '../../ui/values';

export type Member = Result<'GET /api/organizations/{organization_id}/members'>['data'][number];

export interface MemberProps {
  readonly of: Member;
  readonly organizationId: string;
}

export const ROLES = {
  owner: {
    label: 'Owner',
    grants: 'Owners can do everything in this organization, including managing owners.',
  },
  admin: { label: 'Admin', grants: 'Admins manage keys and members, but not owners.' },
  developer: {
    label: 'Developer',
    grants: 'Developers manage their own keys and use the playground, and can view the rest.',
  },
  billing: { label: 'Billing', grants: 'Billing changes credit alerts, and can view the rest.' },
  member: { label: 'Member', grants: 'Members can view this organization, but change nothing.' },
} as const;

export const rolesWithoutOwner = ['admin', 'developer', 'billing', 'member'] as const;

export function canChangeRole({ role }: Member, can: ReturnType<typeof usePermission>): boolean {
  return can(role === 'owner' ? 'members:manage_owners' : 'members:manage');
}

/** A change takes effect only after a confirmation, since arrow keys change a selection immediately. */
export function MemberRole({ of: member, organizationId }: MemberProps) {
  const can = usePermission(organizationId);
  const queryClient = useQueryClient();
  const toast = useToast();
  const [chosen, setChosen] = useState<Member['role']>();
  const setRole = useMutation({
    mutationFn: (role: Member['role']) =>
      api.call('PUT /api/organizations/{organization_id}/members/{member_id}/role', {
        params: { organization_id: organizationId, member_id: member.id },
        body: { role },
      }),
    onSuccess: async () => {
      toast('Role changed.');
      await queryClient.invalidateQueries({ queryKey: ['members', organizationId] });
      setChosen(undefined);
    },
  });
  if (!canChangeRole(member, can)) return ROLES[member.role].label;
  return (
    <>
      <Select
        aria-label={`Role of ${visible(member.email)}`}
        className="!w-28 sm:!w-32"
        value={member.role}
        onChange={({ target }) => setChosen(target.value as Member['role'])}
      >
        {can('members:manage_owners') && <option value="owner">{ROLES.owner.label}</option>}
        {rolesWithoutOwner.map((role) => (
          <option key={role} value={role}>
            {ROLES[role].label}
          </option>
        ))}
      </Select>
      <Confirm
        open={chosen !== undefined}
        onOpenChange={() => {
          setChosen(undefined);
          setRole.reset();
        }}
        title="Change role?"
        action="Change role"
        of={setRole}
        onConfirm={() => chosen && setRole.mutate(chosen)}
      >
        <p>
          <Text className="font-medium text-ink">{member.email}</Text> changes from {ROLES[member.role].label}{' '}
          to {chosen && ROLES[chosen].label}. {chosen && ROLES[chosen].grants}
        </p>
      </Confirm>
    </>
  );
}
