import { Field, Select } from '../../ui/field';

/** The value of the filter for usage without a project. */
export const NO_PROJECT = 'none';

/** The project of a filter, for the API. */
export const projectIdOf = (project: string | undefined) => (project === NO_PROJECT ? '' : project);

interface ProjectSelectProps {
  readonly className: string;
  readonly names: ReadonlyMap<string, string>;
  readonly value: string | undefined;
  readonly onChange: (project: string | undefined) => void;
}

/** A filter by project; hidden in organizations without one. */
export function ProjectSelect({ className, names, value, onChange }: ProjectSelectProps) {
  if (names.size === 0 && value === undefined) return null;
  return (
    <Field label="Project">
      <Select
        className={className}
        value={value ?? ''}
        onChange={({ target }) => onChange(target.value || undefined)}
      >
        <option value="">All projects</option>
        <option value={NO_PROJECT}>No project</option>
        {[...names].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
    </Field>
  );
}
