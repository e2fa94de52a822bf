#!/bin/sh
# Creates a database per domain, whose role owns it and cannot connect to the others. The PostgreSQL image runs this script
# once, on a new volume. Change a password later with `alter role`.
set -eu

create() {
  # Keep a failing statement out of the server's log: it contains the password.
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
