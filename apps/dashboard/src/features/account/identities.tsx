import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { useSession } from '../../api/session';
import { blockingErrorOf } from '../../api/transient-error';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { PasswordField } from '../../ui/field';
import { DialogForm } from '../../ui/form';
import { Section } from '../../ui/page';
import { Failure } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { useToast } from '../../ui/toast';
import { Id, Time, visible } from '../../ui/values';

type Identity = Result<'GET /api/account/identities'>['data'][number];

/** The linked identity providers; renders nothing without any. */
export function Identities() {
  const session = useSession();
  const [unlinking, setUnlinking] = useState<string>();
  const query = useQuery({
    queryKey: ['identities'],
    queryFn: async ({ signal }) => (await api.call('GET /api/account/identities', { signal })).data,
  });
  if (!query.error && !query.data?.length) return null;
  const columns: readonly Column<Identity>[] = [
    { id: 'issuer', header: 'Provider', cell: ({ row: { original } }) => <Id>{original.issuer}</Id> },
    { id: 'linked', header: 'Linked', cell: ({ row: { original } }) => <Time at={original.linked_at} /> },
    {
      id: 'actions',
      header: () => <span className="sr-only">Actions</span>,
      meta: { className: 'text-right' },
      cell: ({ row: { original } }) =>
        session.has_password && (
          <Button
            small
            aria-label={`Unlink ${visible(original.issuer)}`}
            onClick={() => setUnlinking(original.issuer)}
          >
            Unlink
          </Button>
        ),
    },
  ];
  return (
    <Section
      title="Single sign-on"
      description={
        session.has_password
          ? 'Identity providers that you can sign in with, in addition to your password.'
          : 'Identity providers that you sign in with. Your account has no password.'
      }
    >
      {blockingErrorOf(query) ? (
        <Failure error={query.error} what="single sign-on" onRetry={() => void query.refetch()} />
      ) : (
        <Table
          caption="Single sign-on"
          rows={query.data ?? []}
          columns={columns}
          rowId={({ issuer }) => issuer}
        />
      )}
      <Dialog
        open={unlinking !== undefined}
        onOpenChange={() => setUnlinking(undefined)}
        title="Unlink identity provider?"
        description="You can then sign in only with your password. Your other sessions that use single sign-on are signed out."
      >
        <Unlink issuer={unlinking ?? ''} onDone={() => setUnlinking(undefined)} />
      </Dialog>
    </Section>
  );
}

function Unlink({ issuer, onDone }: { readonly issuer: string; readonly onDone: () => void }) {
  const [password, setPassword] = useState('');
  const queryClient = useQueryClient();
  const toast = useToast();
  const unlink = useMutation({
    mutationFn: () => api.call('POST /api/account/identities/unlink', { body: { issuer, password } }),
    onSuccess: async () => {
      onDone();
      toast('Identity provider unlinked.');
      await queryClient.invalidateQueries({ queryKey: ['identities'] });
      await queryClient.invalidateQueries({ queryKey: ['sessions'] });
    },
  });
  return (
    <DialogForm of={unlink} action="Unlink" danger onSubmit={() => unlink.mutate()} onCancel={onDone}>
      <p className="text-sm text-ink-soft">
        Signing in with this provider again links it again if your email’s domain is mapped.
      </p>
      <PasswordField label="Password" value={password} onChange={setPassword} />
    </DialogForm>
  );
}
