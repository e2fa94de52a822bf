import { personLabel } from '@gateway/base';
import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Key } from '../../api/keys';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Field, Select } from '../../ui/field';
import { DialogForm } from '../../ui/form';
import { useToast } from '../../ui/toast';
import { visible } from '../../ui/values';
import { refreshKey } from './edit-key';

type MemberPage = Result<'GET /api/organizations/{organization_id}/members'>;
type Member = MemberPage['data'][number];

/** The roles that may own keys. The server decides. */
const OWNING_ROLES: readonly string[] = ['owner', 'admin', 'developer'];

export function TransferKey({ of: key }: { readonly of: Key }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Transfer</Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Transfer key"
        description="Another member becomes its owner. The secret stays: rotate the key if the previous owner knows it."
      >
        <TransferForm of={key} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function TransferForm({ of: key, onDone }: { readonly of: Key; readonly onDone: () => void }) {
  const organizationId = key.organization_id;
  const [memberId, setMemberId] = useState('');
  const queryClient = useQueryClient();
  const toast = useToast();
  const members = useQuery({
    queryKey: ['members', organizationId, 'who may own keys'],
    queryFn: async ({ signal }) => {
      const found: Member[] = [];
      for (let token: string | null = ''; token !== null;) {
        const page: MemberPage = await api.call('GET /api/organizations/{organization_id}/members', {
          params: { organization_id: organizationId },
          query: { page_size: '200', page_token: token },
          signal,
        });
        found.push(...page.data);
        token = page.next_page_token;
      }
      return found;
    },
  });
  const candidates = members.data?.filter(
    ({ id, role }) => OWNING_ROLES.includes(role) && id !== key.owner?.id,
  );
  const transfer = useMutation({
    mutationFn: () =>
      api.call('POST /api/organizations/{organization_id}/keys/{key_id}/transfer', {
        params: { organization_id: organizationId, key_id: key.id },
        body: { member_id: memberId },
      }),
    onSuccess: async () => {
      onDone();
      toast('Key transferred.');
      await refreshKey(queryClient, key);
    },
  });
  const error = transfer.error ?? members.error;
  return (
    <DialogForm
      of={{ error, isPending: transfer.isPending }}
      action="Transfer key"
      onSubmit={() => transfer.mutate()}
      onCancel={onDone}
    >
      <Field label="New owner" hint="Owners, admins and developers own keys.">
        <Select required value={memberId} onChange={({ target }) => setMemberId(target.value)}>
          <option value="">
            {candidates?.length === 0 ? 'No other member may own keys' : 'Choose a member'}
          </option>
          {candidates?.map((member) => (
            <option key={member.id} value={member.id}>
              {visible(personLabel(member))}
            </option>
          ))}
        </Select>
      </Field>
    </DialogForm>
  );
}
