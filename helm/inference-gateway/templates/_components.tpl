{{/*
The services: which of them each one calls, its datastores, further secret settings, and the topic that it consumes.
Settings, network policies and migrations are rendered from this table. A test compares it with the services' code.
*/}}
{{- define "gateway.componentTable" -}}
auth:
  values: auth
  database: true
  internet: true
  secrets: [GATEWAY_SECRETS_KEY, GATEWAY_OIDC_CLIENT_SECRET, GATEWAY_SMTP_URL]
rate-limit:
  values: rateLimit
  redis: true
billing-ledger:
  values: billingLedger
  database: true
  kafka: true
  consumes: generation.finished
  internet: true
  secrets: [GATEWAY_SECRETS_KEY, GATEWAY_SMTP_URL]
usage-aggregator:
  values: usageAggregator
  database: true
  kafka: true
  consumes: generation.settled
generation-query:
  values: generationQuery
  database: true
  # The database of usage-aggregator, which migrates it.
  sharesDatabase: true
inference-router:
  values: inferenceRouter
  database: true
  kafka: true
  internet: true
  spool: true
  carriesGenerations: true
  secrets: [GATEWAY_SECRETS_KEY]
edge-proxy:
  values: edgeProxy
  carriesGenerations: true
  http: { name: api, port: 8080 }
dashboard-api:
  values: dashboardApi
  http: { name: dashboard, port: 8081 }
{{- end }}

{{/*
The same with the services that each one calls, and `grpc`, the ports on which it is called. Services on the path of a
request call the port `grpc`; those that act for people call `grpc-admin`, which nothing else reaches.
*/}}
{{- define "gateway.components" -}}
{{- $components := include "gateway.componentTable" . | fromYaml -}}
{{- $ports := include "gateway.rpcPorts" . | fromYaml -}}
{{- range $caller, $called := .Files.Get "files/calls.yaml" | fromYaml -}}
{{- $port := include "gateway.rpcPortOf" $caller -}}
{{- range $called -}}
{{- $component := index $components . -}}
{{- $_ := set $component "grpc" (merge (dict $port (index $ports $port)) ($component.grpc | default dict)) -}}
{{- end -}}
{{- with index $components $caller }}{{ $_ := set . "calls" $called }}{{ end -}}
{{- end -}}
{{- toYaml $components -}}
{{- end }}

{{- define "gateway.rpcPorts" -}}
grpc: 50051
grpc-admin: 50052
{{- end }}

{{/* The port that a service calls on others. */}}
{{- define "gateway.rpcPortOf" -}}
{{- ternary "grpc-admin" "grpc" (has . (list "dashboard-api" "demo")) -}}
{{- end }}
