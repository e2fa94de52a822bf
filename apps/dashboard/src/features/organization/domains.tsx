import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { usePermission } from '../../api/session';
import { signInOptionsQuery } from '../../api/sign-in-options';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Dialog } from '../../ui/dialog';
import { Field, Input, Select } from '../../ui/field';
import { DialogForm } from '../../ui/form';
import { Section } from '../../ui/page';
import { Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Text, Time, visible } from '../../ui/values';
import { ROLES, rolesWithoutOwner } from './member-role';
import { OperatorContact } from '../../app/operator-contact';

type Domain = Result<'GET /api/organizations/{organization_id}/domains'>['data'][number];

interface DomainsProps {
  readonly organizationId: string;
}

/** The domains mapped for single sign-on; renders nothing when it is not configured. */
export function Domains({ organizationId }: DomainsProps) {
  const { data: options } = useQuery(signInOptionsQuery);
  const canMap = usePermission(organizationId)('platform:single_sign_on');
  const domains = useQuery({
    queryKey: ['domains', organizationId],
    queryFn: ({ signal }) =>
      api.call('GET /api/organizations/{organization_id}/domains', {
        params: { organization_id: organizationId },
        signal,
      }),
    enabled: Boolean(options?.oidc),
  });
  if (!options?.oidc) return null;
  return (
    <Section
      title="Single sign-on"
      description={`People who sign in with “${options.oidc.label}” and a verified email from these domains join automatically.`}
      actions={canMap && <MapDomain organizationId={organizationId} />}
    >
      {domains.error ? (
        <Failure error={domains.error} what="domains" onRetry={() => void domains.refetch()} />
      ) : !domains.data ? (
        <SkeletonRows rows={2} />
      ) : domains.data.data.length === 0 ? (
        <p className="text-sm text-ink-soft">
          No domains are mapped.
          {!canMap && (
            <>
              {' '}
              Contact <OperatorContact /> to map one.
            </>
          )}
        </p>
      ) : (
        <DomainTable organizationId={organizationId} domains={domains.data.data} canMap={canMap} />
      )}
    </Section>
  );
}

interface DomainTableProps extends DomainsProps {
  readonly domains: readonly Domain[];
  readonly canMap: boolean;
}

function DomainTable({ organizationId, domains, canMap }: DomainTableProps) {
  const columns: readonly Column<Domain>[] = [
    {
      id: 'domain',
      header: 'Domain',
      cell: ({ row: { original: one } }) => <Text className="font-medium">{one.domain}</Text>,
    },
    {
      id: 'role',
      header: 'Role',
      cell: ({ row: { original: one } }) => <span className="capitalize">{one.role}</span>,
    },
    {
      id: 'by',
      header: 'Mapped by',
      meta: { hide: 'phone' },
      cell: ({ row: { original: one } }) => <Text>{one.mapped_by}</Text>,
    },
    {
      id: 'at',
      header: 'Mapped',
      meta: { hide: 'phone' },
      cell: ({ row: { original: one } }) => <Time at={one.mapped_at} />,
    },
    {
      id: 'actions',
      header: () => <span className="sr-only">Actions</span>,
      meta: { className: 'text-right' },
      cell: ({ row: { original: one } }) =>
        canMap && <UnmapDomain organizationId={organizationId} domain={one.domain} />,
    },
  ];
  return <Table caption="Domains" rows={domains} columns={columns} rowId={({ domain }) => domain} />;
}

function MapDomain({ organizationId }: DomainsProps) {
  const [open, setOpen] = useState(false);
  const [domain, setDomain] = useState('');
  const [role, setRole] = useState<Domain['role']>('member');
  const queryClient = useQueryClient();
  const map = useMutation({
    mutationFn: () =>
      api.call('PUT /api/organizations/{organization_id}/domains/{domain}', {
        params: { organization_id: organizationId, domain: domain.trim() },
        body: { role },
      }),
    onSuccess: async () => {
      close(false);
      await queryClient.invalidateQueries({ queryKey: ['domains', organizationId] });
    },
  });
  const close = (next: boolean) => {
    setOpen(next);
    if (next) return;
    map.reset();
    setDomain('');
    setRole('member');
  };
  return (
    <>
      <Button small icon="plus" onClick={() => setOpen(true)}>
        Map domain
      </Button>
      <Dialog open={open} onOpenChange={close} title="Map domain">
        <DialogForm of={map} action="Map" onSubmit={() => map.mutate()} onCancel={() => close(false)}>
          <Field label="Domain" hint="For example example.com. Subdomains are separate.">
            <Input required autoFocus value={domain} onChange={({ target }) => setDomain(target.value)} />
          </Field>
          <Field label="Role" hint={`Of people who join. ${ROLES[role].grants}`}>
            <Select value={role} onChange={({ target }) => setRole(target.value as Domain['role'])}>
              {rolesWithoutOwner.map((one) => (
                <option key={one} value={one}>
                  {ROLES[one].label}
                </option>
              ))}
            </Select>
          </Field>
        </DialogForm>
      </Dialog>
    </>
  );
}

function UnmapDomain({ organizationId, domain }: DomainsProps & { readonly domain: string }) {
  const [open, setOpen] = useState(false);
  const queryClient = useQueryClient();
  const unmap = useMutation({
    mutationFn: () =>
      api.call('DELETE /api/organizations/{organization_id}/domains/{domain}', {
        params: { organization_id: organizationId, domain },
      }),
    onSuccess: async () => {
      setOpen(false);
      await queryClient.invalidateQueries({ queryKey: ['domains', organizationId] });
    },
  });
  return (
    <>
      <Button small aria-label={`Unmap ${visible(domain)}`} onClick={() => setOpen(true)}>
        Unmap
      </Button>
      <Confirm
        danger
        open={open}
        onOpenChange={setOpen}
        title="Unmap domain?"
        action="Unmap"
        of={unmap}
        onConfirm={() => unmap.mutate()}
      >
        <p>
          People with an email at <Text className="font-medium text-ink">{domain}</Text> can no longer sign in
          with single sign-on. Existing members stay.
        </p>
      </Confirm>
    </>
  );
}
