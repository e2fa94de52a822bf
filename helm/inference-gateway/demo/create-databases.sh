#!/bin/sh
# A database for each domain, whose role owns it and may not even connect to another. PostgreSQL's image runs this once,
# when its volume is new. A password that changes later is changed by `alter role`.
set -eu

create() {
  # A statement that fails is written to the server's log, and this one holds a password.
  psql --quiet --set=ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    --set=database="$1" --set=role="gateway_$1" --set=password="$2" <<'SQL'
set log_min_error_statement = 'panic';
create role :"role" with login nosuperuser nocreatedb nocreaterole password :'password';
create database :"database" owner :"role";
revoke connect on database :"database" from public;
SQL
}

create auth "$AUTH_DATABASE_PASSWORD"
create billing_ledger "$BILLING_LEDGER_DATABASE_PASSWORD"
create usage "$USAGE_DATABASE_PASSWORD"
create inference_router "$INFERENCE_ROUTER_DATABASE_PASSWORD"
