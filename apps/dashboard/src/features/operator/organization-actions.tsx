import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Organization } from '../../api/organizations';
import { IconButton } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Field, Input } from '../../ui/field';
import { DialogForm } from '../../ui/form';
import { Menu, MenuItem } from '../../ui/menu';
import { useToast } from '../../ui/toast';
import { Text } from '../../ui/values';

/** A menu with links, and the dialog to suspend or resume. */
export function OrganizationActions({ of }: { readonly of: Organization }) {
  const [open, setOpen] = useState(false);
  const navigate = useNavigate();
  const params = { organizationId: of.id };
  return (
    <>
      <Menu trigger={<IconButton small className="!w-7" icon="more" label={`Actions for ${of.name}`} />}>
        <MenuItem icon="wallet" onSelect={() => void navigate({ to: '/o/$organizationId/credit', params })}>
          Credit
        </MenuItem>
        <MenuItem icon="sliders" onSelect={() => void navigate({ to: '/o/$organizationId/limits', params })}>
          Limits
        </MenuItem>
        <MenuItem icon="people" onSelect={() => void navigate({ to: '/o/$organizationId/members', params })}>
          Members
        </MenuItem>
        <MenuItem danger={!of.suspended} icon={of.suspended ? 'play' : 'stop'} onSelect={() => setOpen(true)}>
          {of.suspended ? 'Resume' : 'Suspend'}
        </MenuItem>
      </Menu>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={of.suspended ? 'Resume organization?' : 'Suspend organization?'}
      >
        <SuspendForm of={of} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function SuspendForm({ of, onDone }: { readonly of: Organization; readonly onDone: () => void }) {
  const [reason, setReason] = useState('');
  const queryClient = useQueryClient();
  const toast = useToast();
  const change = useMutation({
    mutationFn: () => {
      const params = { organization_id: of.id };
      return of.suspended
        ? api.call('POST /api/organizations/{organization_id}/resume', { params })
        : api.call('POST /api/organizations/{organization_id}/suspend', {
            params,
            body: { reason: reason.trim() || null },
          });
    },
    onSuccess: async () => {
      toast(of.suspended ? 'Organization resumed.' : 'Organization suspended.');
      await Promise.all(
        ['all-organizations', 'organizations', 'organization'].map((name) =>
          queryClient.invalidateQueries({ queryKey: [name] }),
        ),
      );
      onDone();
    },
  });
  return (
    <DialogForm
      of={change}
      action={of.suspended ? 'Resume' : 'Suspend'}
      danger={!of.suspended}
      onSubmit={() => change.mutate()}
      onCancel={onDone}
    >
      <p className="text-sm text-ink-soft">
        {of.suspended ? (
          <>
            The keys of <Text className="font-medium text-ink">{of.name}</Text> work again immediately.
          </>
        ) : (
          <>
            All requests with keys of <Text className="font-medium text-ink">{of.name}</Text> fail with 403.
            Requests in progress finish. You can resume the organization at any time.
          </>
        )}
      </p>
      {!of.suspended && (
        <Field label="Reason" optional hint="Visible to members.">
          <Input
            autoFocus
            maxLength={500}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        </Field>
      )}
    </DialogForm>
  );
}
