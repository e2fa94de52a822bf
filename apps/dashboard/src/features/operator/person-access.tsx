import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client';
import { Confirm } from '../../ui/confirm';
import { MenuItem } from '../../ui/menu';
import { useToast } from '../../ui/toast';
import { Email } from '../../ui/values';

type Person = Result<'GET /api/people'>['data'][number];

export type AccessChange = 'reset' | 'disable' | 'enable' | 'end';

const CHANGES = {
  reset: {
    item: 'Reset two-factor authentication',
    title: 'Reset two-factor authentication?',
    action: 'Reset',
    effect:
      'is signed out, and can then sign in with the password alone. Verify the request first, outside of email.',
    done: 'Two-factor authentication reset.',
  },
  disable: {
    item: 'Disable account',
    title: 'Disable account?',
    action: 'Disable',
    effect: 'is signed out and can no longer sign in. Keys of organizations keep working.',
    done: 'Account disabled.',
  },
  enable: {
    item: 'Enable account',
    title: 'Enable account?',
    action: 'Enable',
    effect: 'can sign in again, with the same roles.',
    done: 'Account enabled.',
  },
  end: {
    item: 'Sign out everywhere',
    title: 'Sign out everywhere?',
    action: 'Sign out',
    effect: 'is signed out on all devices.',
    done: 'Signed out everywhere.',
  },
} as const;

interface AccessItemsProps {
  readonly of: Person;
  readonly onSelect: (change: AccessChange) => void;
}

/** The menu items that restore or withdraw a person's access. */
export function AccessItems({ of: person, onSelect }: AccessItemsProps) {
  const changes: readonly AccessChange[] = [
    ...(person.second_factor ? (['reset'] as const) : []),
    'end',
    person.disabled ? 'enable' : 'disable',
  ];
  return changes.map((change) => (
    <MenuItem key={change} danger={change === 'disable'} onSelect={() => onSelect(change)}>
      {CHANGES[change].item}
    </MenuItem>
  ));
}

interface ConfirmAccessChangeProps {
  readonly of: Person;
  readonly change: AccessChange | undefined;
  readonly onDone: () => void;
}

export function ConfirmAccessChange({ of: person, change, onDone }: ConfirmAccessChangeProps) {
  const queryClient = useQueryClient();
  const toast = useToast();
  const apply = useMutation({
    mutationFn: (wanted: AccessChange) => {
      const params = { member_id: person.id };
      switch (wanted) {
        case 'reset':
          return api.call('POST /api/people/{member_id}/second-factor/reset', { params });
        case 'end':
          return api.call('POST /api/people/{member_id}/sessions/end', { params });
        default: {
          const body = { disabled: wanted === 'disable' };
          return api.call('PUT /api/people/{member_id}/disabled', { params, body });
        }
      }
    },
    onSuccess: async (_result, applied) => {
      onDone();
      toast(CHANGES[applied].done);
      await queryClient.invalidateQueries({ queryKey: ['people'] });
    },
  });
  const text = CHANGES[change ?? 'end'];
  return (
    <Confirm
      danger={change !== 'enable'}
      open={change !== undefined}
      onOpenChange={onDone}
      title={text.title}
      action={text.action}
      of={apply}
      onConfirm={() => change && apply.mutate(change)}
    >
      <p>
        <Email className="font-medium text-ink">{person.email}</Email> {text.effect} The person is notified by
        email, if a mail server is configured.
      </p>
    </Confirm>
  );
}
