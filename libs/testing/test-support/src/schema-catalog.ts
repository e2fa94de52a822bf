import type { Pool } from 'pg';

/** One line per definition in a schema, without properties that depend on the order of creation. */
const READ_CATALOG = `
  with relations as (
    select oid, relname as name, relkind, relispartition, reloptions, relpartbound
    from pg_class where relnamespace = to_regnamespace($1) and relkind in ('r', 'p', 'v', 'S')
  )
  select format('relation %s %s %s %s', name, relkind, reloptions, pg_get_expr(relpartbound, oid)) as line
  from relations
  union all
  select format('column %s.%s %s %s %s %s', name, attname, format_type(atttypid, atttypmod), ordering.collname,
    case when attnotnull then 'not null' end, pg_get_expr(adbin, adrelid))
  from relations
  join pg_attribute on attrelid = relations.oid and attnum > 0 and not attisdropped
  left join pg_collation ordering on ordering.oid = attcollation
  left join pg_attrdef on adrelid = relations.oid and adnum = attnum
  union all
  select format('constraint %s %s %s', name, conname, pg_get_constraintdef(pg_constraint.oid))
  from relations join pg_constraint on conrelid = relations.oid and contype <> 'n'
  union all
  select format('index %s', indexdef) from pg_indexes where schemaname = $1
  union all
  select format('view %s %s', name, pg_get_viewdef(oid)) from relations where relkind = 'v'
  union all
  select format('trigger %s', pg_get_triggerdef(pg_trigger.oid))
  from relations join pg_trigger on tgrelid = relations.oid and not tgisinternal
  union all
  select format('function %s', pg_get_functiondef(oid)) from pg_proc where pronamespace = to_regnamespace($1)
  union all
  select format('grant %s %s %s', table_name, grantee, privilege_type)
  from information_schema.role_table_grants where table_schema = $1 and grantee <> grantor
  order by 1`;

/** The definitions of a schema's tables, views, indexes, constraints, triggers, functions and grants. */
export async function readCatalog(pool: Pool, schema: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ line: string }>(READ_CATALOG, [schema]);
  return rows.map(({ line }) => line);
}
