{{/*
The services: which of them each one calls, its datastores, further secret settings, and the topic that it consumes.
Settings, network policies and migrations are rendered from this table. A test compares it with the services' code.
*/}}
{{- define "gateway.components" -}}
auth:
  values: auth
  rpc: true
  database: true
  internet: true
  secrets: [GATEWAY_SECRETS_KEY, GATEWAY_OIDC_CLIENT_SECRET, GATEWAY_SMTP_URL]
rate-limit:
  values: rateLimit
  rpc: true
  redis: true
billing-ledger:
  values: billingLedger
  rpc: true
  database: true
  kafka: true
  consumes: generation.finished
  internet: true
  secrets: [GATEWAY_SMTP_URL]
usage-aggregator:
  values: usageAggregator
  rpc: true
  database: true
  kafka: true
  consumes: generation.settled
generation-query:
  values: generationQuery
  rpc: true
  database: true
  # The database of usage-aggregator, which migrates it.
  sharesDatabase: true
inference-router:
  values: inferenceRouter
  rpc: true
  database: true
  kafka: true
  internet: true
  spool: true
  calls: [billing-ledger]
edge-proxy:
  values: edgeProxy
  http: { name: api, port: 8080 }
  calls: [auth, rate-limit, billing-ledger, inference-router, generation-query]
dashboard-api:
  values: dashboardApi
  http: { name: dashboard, port: 8081 }
  calls: [auth, billing-ledger, inference-router, generation-query, usage-aggregator]
{{- end }}
