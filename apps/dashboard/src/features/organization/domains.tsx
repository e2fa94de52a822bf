import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { useMay } from '../../api/session';
import { signInOptionsQuery } from '../../api/sign-in-options';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Dialog, DialogActions } from '../../ui/dialog';
import { Field, Input, Select } from '../../ui/field';
import { Section } from '../../ui/page';
import { Failure, FailureLine, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Text, Time, visible } from '../../ui/values';

type Domain = Result<'GET /api/organizations/{organization_id}/domains'>['data'][number];

interface DomainsProps {
  readonly organizationId: string;
}

/** Whose people join by single sign-on; not there where none is configured. */
export function Domains({ organizationId }: DomainsProps) {
  const { data: options } = useQuery(signInOptionsQuery);
  const mayMap = useMay(organizationId)('platform:organizations');
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
      description={`Who comes by “${options.oidc.label}” with a verified email of one of these domains joins this organization.`}
      actions={mayMap && <MapDomain organizationId={organizationId} />}
    >
      {domains.error ? (
        <Failure error={domains.error} what="the domains" onRetry={() => void domains.refetch()} />
      ) : !domains.data ? (
        <SkeletonRows rows={2} />
      ) : domains.data.data.length === 0 ? (
        <p className="text-sm text-ink-soft">
          No domain is mapped.{' '}
          {mayMap ? '“Map a domain” adds one.' : 'The operator of the gateway maps them.'}
        </p>
      ) : (
        <DomainTable organizationId={organizationId} domains={domains.data.data} mayMap={mayMap} />
      )}
    </Section>
  );
}

interface DomainTableProps extends DomainsProps {
  readonly domains: readonly Domain[];
  readonly mayMap: boolean;
}

function DomainTable({ organizationId, domains, mayMap }: DomainTableProps) {
  const columns: readonly Column<Domain>[] = [
    {
      id: 'domain',
      header: 'Domain',
      cell: ({ row: { original: one } }) => <Text className="font-medium">{one.domain}</Text>,
    },
    {
      id: 'role',
      header: 'Join as',
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
      header: 'Since',
      meta: { hide: 'phone' },
      cell: ({ row: { original: one } }) => <Time at={one.mapped_at} />,
    },
    {
      id: 'actions',
      header: () => <span className="sr-only">Actions</span>,
      meta: { className: 'text-right' },
      cell: ({ row: { original: one } }) =>
        mayMap && <UnmapDomain organizationId={organizationId} domain={one.domain} />,
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
        Map a domain
      </Button>
      <Dialog open={open} onOpenChange={close} title="Map a domain">
        <form
          className="grid gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            map.mutate();
          }}
        >
          <Field label="Domain" hint="Exactly as it is in the emails, such as example.com.">
            <Input required autoFocus value={domain} onChange={({ target }) => setDomain(target.value)} />
          </Field>
          <Field label="Its people join as">
            <Select value={role} onChange={({ target }) => setRole(target.value as Domain['role'])}>
              <option value="member">Member: reads</option>
              <option value="admin">Admin: manages all but owners</option>
            </Select>
          </Field>
          {map.error && <FailureLine error={map.error} />}
          <DialogActions>
            <Button onClick={() => close(false)}>Cancel</Button>
            <Button type="submit" kind="primary" busy={map.isPending}>
              Map
            </Button>
          </DialogActions>
        </form>
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
        title="Unmap this domain?"
        action="Unmap"
        busy={unmap.isPending}
        error={unmap.error}
        onConfirm={() => unmap.mutate()}
      >
        <p>
          Nobody with an email of <Text className="font-medium text-ink">{domain}</Text> signs in by single
          sign-on any more. Who joined stays a member.
        </p>
      </Confirm>
    </>
  );
}
