import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy';
import { Dialog, DialogActions } from '../../ui/dialog';
import { Field, Input, Select } from '../../ui/field';
import { Notice } from '../../ui/notice';
import { FailureLine } from '../../ui/states';
import { Text } from '../../ui/values';

type Invited = Result<'POST /api/organizations/{organization_id}/invitations'>;
type Role = Invited['invitation']['role'];

interface InvitePersonProps {
  readonly organizationId: string;
  readonly mayInviteOwners: boolean;
}

export function InvitePerson({ organizationId, mayInviteOwners }: InvitePersonProps) {
  const [open, setOpen] = useState(false);
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
    setOpen(next);
    if (!next) {
      invite.reset();
      setEmail('');
      setRole('member');
    }
  };
  return (
    <>
      <Button kind="primary" icon="plus" onClick={() => setOpen(true)}>
        Invite a person
      </Button>
      <Dialog open={open} onOpenChange={close} title="Invite a person" insistent={invite.data !== undefined}>
        {invite.data ? (
          <Link invited={invite.data} onDone={() => close(false)} />
        ) : (
          <form
            className="grid gap-4"
            onSubmit={(event) => {
              event.preventDefault();
              invite.mutate();
            }}
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
            <Field label="As">
              <Select value={role} onChange={({ target }) => setRole(target.value as Role)}>
                <option value="member">Member: reads</option>
                <option value="admin">Admin: manages all but owners</option>
                {mayInviteOwners && <option value="owner">Owner: manages everything</option>}
              </Select>
            </Field>
            {invite.error && <FailureLine error={invite.error} />}
            <DialogActions>
              <Button onClick={() => close(false)}>Cancel</Button>
              <Button type="submit" kind="primary" busy={invite.isPending}>
                Make the link
              </Button>
            </DialogActions>
          </form>
        )}
      </Dialog>
    </>
  );
}

/** Shown this once: only its hash is kept. */
function Link({
  invited: { link, mailed, invitation },
  onDone,
}: {
  readonly invited: Invited;
  readonly onDone: () => void;
}) {
  return (
    <div className="grid gap-4">
      <Notice tone="good" title={mailed ? 'The link was sent by mail' : 'The link is ready'}>
        {mailed ? (
          'You can send it yourself, too. '
        ) : (
          <>
            Send it to <Text>{invitation.email}</Text>.{' '}
          </>
        )}
        It is good once, for seven days, and is not shown again.
      </Notice>
      <Input
        readOnly
        aria-label="The link"
        className="font-mono !text-sm"
        value={link}
        onFocus={({ target }) => target.select()}
      />
      <DialogActions>
        <CopyButton text={link} what="the link" />
        <Button kind="primary" onClick={onDone}>
          Done
        </Button>
      </DialogActions>
    </div>
  );
}
