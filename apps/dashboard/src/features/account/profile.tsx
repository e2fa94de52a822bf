import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { sessionQuery, useSession } from '../../api/session';
import { Button } from '../../ui/button';
import { Field, Input, Select } from '../../ui/field';
import { Form } from '../../ui/form';
import { FailureLine } from '../../ui/states';
import { useToast } from '../../ui/toast';

/** How others see the person, and the time zone of their emails. */
export function Profile() {
  const { member, time_zone: savedZone } = useSession();
  const [name, setName] = useState(member.name);
  const [timeZone, setTimeZone] = useState(savedZone);
  const queryClient = useQueryClient();
  const toast = useToast();
  const save = useMutation({
    mutationFn: () =>
      api.call('PUT /api/account/profile', {
        body: { name, ...(timeZone !== savedZone && { time_zone: timeZone }) },
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
      toast('Profile saved.');
    },
  });
  const zones = [...new Set(['UTC', savedZone, ...Intl.supportedValuesOf('timeZone')])].filter(Boolean);
  return (
    <Form className="grid max-w-md gap-4" onSubmit={() => save.mutate()}>
      <Field label="Name" optional hint="Shown next to your email, also in the audit log.">
        <Input
          autoComplete="name"
          maxLength={100}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </Field>
      <Field label="Time zone of emails" hint="Emails show times in it and in UTC.">
        <Select value={timeZone} onChange={({ target }) => setTimeZone(target.value)}>
          {savedZone === '' && <option value="">Not known</option>}
          {zones.map((zone) => (
            <option key={zone}>{zone}</option>
          ))}
        </Select>
      </Field>
      {save.error && <FailureLine error={save.error} />}
      <div>
        <Button type="submit" busy={save.isPending}>
          Save profile
        </Button>
      </div>
    </Form>
  );
}
