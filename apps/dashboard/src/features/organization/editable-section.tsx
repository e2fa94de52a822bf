import { useState, type ReactNode } from 'react';
import type { Organization } from '../../api/organizations';
import { usePermission } from '../../api/session';
import { Button } from '../../ui/button';
import { Section } from '../../ui/page';

interface EditableSectionProps {
  readonly organization: Organization;
  readonly title: string;
  readonly description: string;
  /** The permission to edit. */
  readonly permission: Parameters<ReturnType<typeof usePermission>>[0];
  /** The label of the button that opens the form. */
  readonly action: string;
  readonly form: (onDone: () => void) => ReactNode;
  /** What is shown until then. */
  readonly children: ReactNode;
}

/** A part of the organization's settings, and its form. */
export function EditableSection({
  organization,
  title,
  description,
  permission,
  action,
  form,
  children,
}: EditableSectionProps) {
  const can = usePermission(organization.id);
  const [editing, setEditing] = useState(false);
  return (
    <Section
      title={title}
      description={description}
      actions={can(permission) && !editing && <Button onClick={() => setEditing(true)}>{action}</Button>}
    >
      {editing ? form(() => setEditing(false)) : children}
    </Section>
  );
}
