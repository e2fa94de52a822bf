import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { effectiveLimitsOf, organizationQuery } from '../../api/organizations';
import type { Project } from '../../api/projects';
import { exactUsd, readAmount } from '../../format/money';
import { Button } from '../../ui/button';
import { Dialog, DialogActions } from '../../ui/dialog';
import { Field, Input } from '../../ui/field';
import { FailureLine } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { VersionedFormEnd } from '../../ui/versioned-form';
import { BUDGETS, type BudgetField } from '../keys/budgets';
import { budgetError } from '../keys/limit-values';
import { OtherBudgetsFields } from '../keys/other-budgets';
import {
  otherBudgetsBodyOf,
  otherBudgetsError,
  otherBudgetValuesOf,
  type OtherBudgetValue,
} from '../keys/other-budget-values';

/** The form's values as typed. */
type Values = Readonly<Record<'name' | BudgetField, string>> & {
  readonly otherBudgets: readonly OtherBudgetValue[];
};

interface ProjectDialogProps {
  readonly organizationId: string;
  /** Undefined creates a project. */
  readonly project: Project | undefined;
  readonly onClose: () => void;
}

/** Creates a project, or changes its name and budgets. */
export function ProjectDialog({ organizationId, project, onClose }: ProjectDialogProps) {
  const title = project ? 'Edit project' : 'Create project';
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={title}>
      <ProjectForm organizationId={organizationId} project={project} onClose={onClose} />
    </Dialog>
  );
}

function ProjectForm({ organizationId, project, onClose }: ProjectDialogProps) {
  const { data: organization } = useQuery(organizationQuery(organizationId));
  const [values, setValues] = useState(() => valuesOf(project));
  const [readVersion, setReadVersion] = useState(project?.version);
  const [touched, setTouched] = useState(false);
  const queryClient = useQueryClient();
  const toast = useToast();
  const bounds = organization && effectiveLimitsOf(organization);
  const issues = BUDGETS.map(({ field }) => budgetError(values[field], bounds?.[field]));
  const save = useMutation({
    mutationFn: () => {
      const body = bodyOf(values);
      return project
        ? api.call('PUT /api/organizations/{organization_id}/projects/{project_id}', {
            params: { organization_id: organizationId, project_id: project.id },
            body: { ...body, version: readVersion },
          })
        : api.call('POST /api/organizations/{organization_id}/projects', {
            params: { organization_id: organizationId },
            body,
          });
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['projects', organizationId] });
      // Lower budgets of a project lower those of its keys.
      await queryClient.invalidateQueries({ queryKey: ['keys', organizationId] });
      toast(project ? 'Project updated.' : 'Project created.');
      onClose();
    },
  });
  const nameIssue = values.name.trim() === '' ? 'Enter a name.' : undefined;
  const otherBudgetsIssue = otherBudgetsError(values.otherBudgets);
  const set = (name: keyof Values, value: string | readonly OtherBudgetValue[]) =>
    setValues({ ...values, [name]: value });
  return (
    <form
      noValidate
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        setTouched(true);
        if ([nameIssue, otherBudgetsIssue, ...issues].every((issue) => issue === undefined)) save.mutate();
      }}
    >
      <Field label="Name" error={touched ? nameIssue : undefined}>
        <Input
          required
          autoFocus
          maxLength={100}
          value={values.name}
          onChange={({ target }) => set('name', target.value)}
        />
      </Field>
      {BUDGETS.map(({ field, label, reset }, index) => (
        <Field
          key={field}
          label={`${label} (USD)`}
          optional
          hint={`${reset}${bounds?.[field] ? ` Organization limit: ${exactUsd(bounds[field])}.` : ''}`}
          error={issues[index]}
        >
          <Input
            inputMode="decimal"
            placeholder="No budget"
            value={values[field]}
            onChange={({ target }) => set(field, target.value)}
          />
        </Field>
      ))}
      <OtherBudgetsFields
        values={values.otherBudgets}
        onChange={(otherBudgets) => set('otherBudgets', otherBudgets)}
        error={touched ? otherBudgetsIssue : undefined}
      />
      {project ? (
        <>
          <p className="text-sm text-ink-soft">Budgets of its keys above a new budget are lowered to it.</p>
          <VersionedFormEnd<Project>
            what="this project"
            save={save}
            onVersion={setReadVersion}
            onDiscard={(current) => setValues(valuesOf(current))}
            onCancel={onClose}
          />
        </>
      ) : (
        <>
          {save.error && <FailureLine error={save.error} />}
          <DialogActions>
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" kind="primary" busy={save.isPending}>
              Create project
            </Button>
          </DialogActions>
        </>
      )}
    </form>
  );
}

function valuesOf(project: Project | undefined): Values {
  return {
    name: project?.name ?? '',
    daily_budget_usd: project?.daily_budget_usd ?? '',
    weekly_budget_usd: project?.weekly_budget_usd ?? '',
    monthly_budget_usd: project?.monthly_budget_usd ?? '',
    total_budget_usd: project?.total_budget_usd ?? '',
    otherBudgets: otherBudgetValuesOf(project?.budgets ?? []),
  };
}

function bodyOf(values: Values) {
  return {
    name: values.name.trim(),
    daily_budget_usd: readAmount(values.daily_budget_usd) || null,
    weekly_budget_usd: readAmount(values.weekly_budget_usd) || null,
    monthly_budget_usd: readAmount(values.monthly_budget_usd) || null,
    total_budget_usd: readAmount(values.total_budget_usd) || null,
    budgets: otherBudgetsBodyOf(values.otherBudgets),
  };
}
