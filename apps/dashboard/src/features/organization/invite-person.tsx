import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy';
import { Dialog, DialogActions } from '../../ui/dialog';
import { Field, Input, Select } from '../../ui/field';
import { DialogForm } from '../../ui/form';
import { Notice } from '../../ui/notice';
import { Text } from '../../ui/values';
import { ROLES, rolesWithoutOwner } from './member-role';

type Invited = Result<'POST /api/organizations/{organization_id}/invitations'>;
type Role = Invited['invitation']['role'];

interface InvitePersonProps {
  readonly organizationId: string;
  readonly canInviteOwners: boolean;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

export function InvitePerson({ organizationId, canInviteOwners, open, onOpenChange }: InvitePersonProps) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const queryClient = useQueryClient();
  const invite = useMutation({
    mutationFn: () =>
      api.call('POST /api/organizations/{organization_id}/invitations', {
        params: { organization_id: organizationId },
        body: { email: email.trim(), role },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['invitations', organizationId] }),
  });
  const close = (next: boolean) => {
    onOpenChange(next);
    if (!next) {
      invite.reset();
      setEmail('');
      setRole('member');
    }
  };
  return (
    <>
      <Button kind="primary" icon="plus" onClick={() => onOpenChange(true)}>
        Invite member
      </Button>
      <Dialog open={open} onOpenChange={close} title="Invite member" persistent={invite.data !== undefined}>
        {invite.data ? (
          <InvitationLink invited={invite.data} onDone={() => close(false)} />
        ) : (
          <DialogForm
            of={invite}
            action="Create invitation"
            onSubmit={() => invite.mutate()}
            onCancel={() => close(false)}
          >
            <Field label="Email">
              <Input
                type="email"
                required
                autoFocus
                value={email}
                onChange={({ target }) => setEmail(target.value)}
              />
            </Field>
            <Field label="Role" hint={ROLES[role].grants}>
              <Select value={role} onChange={({ target }) => setRole(target.value as Role)}>
                {rolesWithoutOwner.map((one) => (
                  <option key={one} value={one}>
                    {ROLES[one].label}
                  </option>
                ))}
                {canInviteOwners && <option value="owner">{ROLES.owner.label}</option>}
              </Select>
            </Field>
          </DialogForm>
        )}
      </Dialog>
    </>
  );
}

/** Shown only once, since only its hash is stored. */
function InvitationLink({
  invited: { link, emailed, invitation },
  onDone,
}: {
  readonly invited: Invited;
  readonly onDone: () => void;
}) {
  return (
    <div className="grid gap-4">
      <Notice tone="good" title={emailed ? 'Invitation sent' : 'Invitation created'}>
        {!emailed && (
          <>
            Share the link with <Text>{invitation.email}</Text>.{' '}
          </>
        )}
        It works once, expires in 7 days, and won’t be shown again.
      </Notice>
      <Input
        readOnly
        aria-label="Link"
        className="font-mono !text-sm"
        value={link}
        onFocus={({ target }) => target.select()}
      />
      <DialogActions>
        <CopyButton text={link} what="link" />
        <Button kind="primary" onClick={onDone}>
          Done
        </Button>
      </DialogActions>
    </div>
  );
}
