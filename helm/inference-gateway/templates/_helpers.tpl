{{/*
Prefix of every object's name: release and chart, or the release alone when it contains the chart's name. Kubernetes
accepts at most 52 characters as the name of a StatefulSet, here with `-inference-router`.
*/}}
{{- define "gateway.prefix" -}}
{{- $name := include "gateway.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $full | trunc 35 | trimSuffix "-" -}}
{{- end }}

{{- define "gateway.name" -}}
{{- .Values.nameOverride | default .Chart.Name -}}
{{- end }}

{{/* Selector labels of a component, which never change. Takes a dict of root and name. */}}
{{- define "gateway.selector" -}}
app.kubernetes.io/name: {{ include "gateway.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{/*
Labels of a pod, without versions: a new version of the chart alone restarts nothing. Takes a dict of root and name, and
of further labels as extra.
*/}}
{{- define "gateway.podLabels" -}}
{{- toYaml (mergeOverwrite dict .root.Values.commonLabels (.extra | default dict) (include "gateway.selector" . | fromYaml)) -}}
{{- end }}

{{- define "gateway.labels" -}}
{{ include "gateway.podLabels" (dict "root" .root "name" .name "extra" (dict
  "app.kubernetes.io/version" .root.Chart.AppVersion
  "app.kubernetes.io/managed-by" .root.Release.Service
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version))) }}
{{- end }}

{{- define "gateway.image" -}}
{{- with .root.Values.image -}}
{{- if .registry }}{{ .registry }}/{{ end }}{{ .repository }}/{{ $.name }}:{{ .tag | default $.root.Chart.AppVersion }}{{ with get .digests $.name }}@{{ . }}{{ end }}
{{- end -}}
{{- end }}

{{/*
Security of every pod, without a service account token, and where it runs. Takes a dict of root; of user for foreign
images; and of a service's values as own.
*/}}
{{- define "gateway.podSecurity" -}}
{{- $security := deepCopy .root.Values.pod.securityContext -}}
{{- range list "runAsUser" "runAsGroup" "fsGroup" -}}
{{- if and $.user (hasKey $security .) }}{{ $_ := set $security . $.user }}{{ end -}}
{{- end -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {{- toYaml $security | nindent 2 }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- $own := .own | default dict }}
{{- with $own.nodeSelector | default .root.Values.pod.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations | default .root.Values.pod.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.pod.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "gateway.containerSecurity" -}}
{{- toYaml .Values.pod.containerSecurityContext -}}
{{- end }}

{{/* How the replicas of a service are placed. Takes a dict of root, name, component and own. */}}
{{- define "gateway.placement" -}}
{{- $spread := .own.topologySpreadConstraints | default .root.Values.pod.topologySpreadConstraints }}
{{- $affinity := .own.affinity | default .root.Values.pod.affinity | deepCopy }}
{{- if not (or $spread (hasKey $affinity "podAntiAffinity")) }}
{{- $_ := include "gateway.zoneAntiAffinity" . | fromYaml | set $affinity "podAntiAffinity" }}
{{- end }}
{{- with $affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- with $spread }}
{{- toYaml . | nindent 2 }}
{{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "gateway.selector" $ | nindent 8 }}
    # Pods of the revision before do not count: they end, and would leave the new ones on one node.
    matchLabelKeys: [{{ hasKey $.component "spool" | ternary "controller-revision-hash" "pod-template-hash" }}]
{{- end }}
{{- end }}

{{/*
Prefers zones without a replica. No spread constraint: where nodes have no zone, the scheduler would ignore those of
nodes, too.
*/}}
{{- define "gateway.zoneAntiAffinity" -}}
preferredDuringSchedulingIgnoredDuringExecution:
  - weight: 100
    podAffinityTerm:
      topologyKey: topology.kubernetes.io/zone
      labelSelector:
        matchLabels: {{- include "gateway.selector" . | nindent 10 }}
{{- end }}

{{/* Takes a dict of root, name and own. */}}
{{- define "gateway.serviceAccountName" -}}
{{- .own.serviceAccountName | default (printf "%s-%s" (include "gateway.prefix" .root) .name) -}}
{{- end }}

{{/* Resources of a service, with small requests in the demo. Takes a dict of root and component. */}}
{{- define "gateway.resources" -}}
{{- $resources := deepCopy (index .root.Values .component.values).resources -}}
{{- if .root.Values.demo.enabled }}{{ $_ := set $resources "requests" .root.Values.demo.requests }}{{ end -}}
{{- toYaml $resources -}}
{{- end }}

{{/* The longest generation in seconds, from the settings; 10 minutes or more. */}}
{{- define "gateway.generationSeconds" -}}
{{- max 600 (div (int64 (.Values.edgeProxy.settings.GATEWAY_GENERATION_TIMEOUT_MS | default 0)) 1000) -}}
{{- end }}

{{/* Timeout of routes in seconds, above the longest generation. */}}
{{- define "gateway.routeTimeoutSeconds" -}}
{{- add (include "gateway.generationSeconds" .) 100 -}}
{{- end }}

{{/*
Shutdown grace in seconds, from the settings. The default is a minute more than the longest generation for services that
carry generations. Others have short calls, and terminate within 30 seconds, even if a datastore does not respond.
*/}}
{{- define "gateway.graceSeconds" -}}
{{- $own := index .root.Values .component.values -}}
{{- $default := hasKey .component "carriesGenerations" | ternary (mul (add (include "gateway.generationSeconds" .root) 60) 1000) 5000 -}}
{{- $ms := $own.settings.GATEWAY_SHUTDOWN_GRACE_MS | default .root.Values.settings.GATEWAY_SHUTDOWN_GRACE_MS | default $default -}}
{{- div (int64 $ms) 1000 -}}
{{- end }}

{{/* Whether a Job migrates the component's database before an upgrade. Takes a dict of root and component. */}}
{{- define "gateway.hasMigrations" -}}
{{- if and .root.Values.migrations.enabled .component.database (not .component.sharesDatabase) }}true{{ end -}}
{{- end }}

{{/*
Seconds until every client of a headless service knows a new pod: its endpoint appears, caches of DNS expire, and
clients resolve the name again each 5 seconds. Takes a dict of root and component; 0 for a service that nothing calls so.
*/}}
{{- define "gateway.discoverySeconds" -}}
{{- if .component.grpc }}{{ add .root.Values.pod.dnsCacheSeconds 10 }}{{ else }}0{{ end -}}
{{- end }}

{{/* Seconds before SIGTERM in which a pod serves those that still have its address. Takes a dict of root and component. */}}
{{- define "gateway.preStopSeconds" -}}
{{- max (include "gateway.discoverySeconds" .) .root.Values.pod.preStopSeconds -}}
{{- end }}

{{/* This delay, by Kubernetes itself from 1.30 on. Empty without a delay: not every version accepts 0 seconds. */}}
{{- define "gateway.preStop" -}}
{{- $seconds := include "gateway.preStopSeconds" . | int -}}
{{- if eq $seconds 0 -}}
{{- else if semverCompare ">=1.30-0" .root.Capabilities.KubeVersion.Version -}}
sleep: { seconds: {{ $seconds }} }
{{- else -}}
exec: { command: [node, -e, 'setTimeout(() => {}, {{ $seconds }}e3)'] }
{{- end -}}
{{- end }}

{{/* Addresses of the services that a component calls: headless services, which resolve to every replica. */}}
{{- define "gateway.targets" -}}
{{- range .component.calls }}
- name: GATEWAY_{{ . | replace "-" "_" | upper }}_TARGET
  value: {{ printf "%s-%s:%v" (include "gateway.prefix" $.root) . (index (include "gateway.rpcPorts" $.root | fromYaml) (include "gateway.rpcPortOf" $.name)) }}
{{- end }}
{{- end }}

{{- define "gateway.kafkaBrokers" -}}
{{- $ofDemo := ternary (printf "%s-kafka:9092" (include "gateway.prefix" .)) "" .Values.demo.enabled -}}
{{- required "kafka.brokers is required: the addresses of the brokers" (.Values.kafka.brokers | default $ofDemo) -}}
{{- end }}

{{/* Volumes that a service needs in its own pods and in those of its migration. Takes a dict of root and component. */}}
{{- define "gateway.commonVolumes" -}}
{{- with .root.Values.caBundle }}
{{- if and .configMap .secret }}{{ fail "caBundle.configMap and caBundle.secret exclude each other" }}{{ end }}
{{- $items := list (dict "key" .key "path" "ca.crt") }}
{{- if .configMap }}
- name: ca-bundle
  configMap: { name: {{ .configMap }}, items: {{ toJson $items }} }
{{- else if .secret }}
- name: ca-bundle
  secret: { secretName: {{ .secret }}, items: {{ toJson $items }} }
{{- end }}
{{- end }}
{{- with concat .root.Values.pod.extraVolumes (index .root.Values .component.values).extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Mounts of gateway.commonVolumes. */}}
{{- define "gateway.commonVolumeMounts" -}}
{{- if or .root.Values.caBundle.configMap .root.Values.caBundle.secret }}
- { name: ca-bundle, mountPath: /etc/gateway/ca-bundle, readOnly: true }
{{- end }}
{{- with concat .root.Values.pod.extraVolumeMounts (index .root.Values .component.values).extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Environment of a service. Takes a dict of root, name and component. */}}
{{- define "gateway.environment" -}}
{{- $values := .root.Values -}}
{{- $own := index $values .component.values -}}
{{- $plain := dict "GATEWAY_ADMIN_PORT" "8082" -}}
{{- if hasKey (.component.grpc | default dict) "grpc" }}{{ $_ := set $plain "GATEWAY_RPC_PORT" "50051" }}{{ end -}}
{{- if hasKey (.component.grpc | default dict) "grpc-admin" }}{{ $_ := set $plain "GATEWAY_RPC_ADMIN_PORT" "50052" }}{{ end -}}
{{- $_ := set $plain "GATEWAY_SHUTDOWN_GRACE_MS" (mul (include "gateway.graceSeconds" .) 1000 | toString) -}}
{{- if eq $values.rpcTls.certificates "none" }}
{{- $_ := set $plain "GATEWAY_RPC_SECURITY" "plaintext" -}}
{{- else }}
{{- $_ := set $plain "GATEWAY_RPC_TLS_DIR" "/etc/gateway/rpc-tls" -}}
{{- $_ := set $plain "GATEWAY_RPC_TLS_DOMAIN" (include "gateway.rpcTlsDomain" .root) -}}
{{- end -}}
{{- if include "gateway.usesActorKeys" . }}{{ $_ := set $plain "GATEWAY_ACTOR_KEYS_DIR" "/etc/gateway/actor-keys" }}{{ end -}}
{{- if has .name (list "auth" "billing-ledger") -}}
{{- with include "gateway.dashboardUrl" .root }}{{ $_ := set $plain "GATEWAY_DASHBOARD_ORIGIN" . }}{{ end -}}
{{- end -}}
{{- if .component.kafka -}}
{{- $_ := set $plain "KAFKA_BROKERS" (include "gateway.kafkaBrokers" .root) -}}
{{- if $values.kafka.tlsSecret -}}
{{- $_ := set $plain "KAFKA_TLS" "true" -}}
{{- $_ := set $plain "KAFKA_TLS_DIR" "/etc/gateway/kafka-tls" -}}
{{- end -}}
{{- $_ := mergeOverwrite $plain $values.kafka.settings -}}
{{- end -}}
{{- if .component.spool -}}
{{- $_ := set $plain "GATEWAY_STATE_DIR" "/var/lib/gateway" -}}
{{- $_ := set $plain "GATEWAY_MODELS_FILE" "/etc/gateway/models/models.yaml" -}}
{{- if $values.demo.enabled }}{{ $_ := set $plain "MODEL_EMULATOR_URL" (printf "http://%s-model-emulator:8090/v1" (include "gateway.prefix" .root)) }}{{ end -}}
{{- end -}}
{{- if eq .name "rate-limit" -}}
{{- /* Limits are divided by this number while Redis is unavailable, so it is the largest number of replicas. */ -}}
{{- $_ := set $plain "GATEWAY_RATE_LIMIT_REPLICAS" (ternary $own.autoscaling.maxReplicas $own.replicas $own.autoscaling.enabled | toString) -}}
{{- end -}}
{{- if eq .name "edge-proxy" -}}
{{- $_ := set $plain "GATEWAY_PORT" "8080" -}}
{{- with include "gateway.dashboardUrl" .root }}{{ $_ := set $plain "GATEWAY_DASHBOARD_ORIGIN" . }}{{ end -}}
{{- end -}}
{{- if eq .name "dashboard-api" -}}
{{- $_ := set $plain "GATEWAY_DASHBOARD_PORT" "8081" -}}
{{- with include "gateway.dashboardUrl" .root }}{{ $_ := set $plain "GATEWAY_DASHBOARD_ORIGIN" . }}{{ end -}}
{{- with include "gateway.apiUrl" .root }}{{ $_ := set $plain "GATEWAY_PUBLIC_URL" . }}{{ end -}}
{{- with $values.edgeProxy.settings.GATEWAY_ENDPOINTS }}{{ $_ := set $plain "GATEWAY_ENDPOINTS" . }}{{ end -}}
{{- end -}}
{{- if and .component.http $own.tlsSecret }}
{{- $_ := set $plain "GATEWAY_TLS_CERT_FILE" "/etc/gateway/https/tls.crt" -}}
{{- $_ := set $plain "GATEWAY_TLS_KEY_FILE" "/etc/gateway/https/tls.key" -}}
{{- end -}}
{{- if or $values.caBundle.configMap $values.caBundle.secret }}{{ $_ := set $plain "NODE_EXTRA_CA_CERTS" "/etc/gateway/ca-bundle/ca.crt" }}{{ end -}}
{{- with $values.telemetry.endpoint }}{{ $_ := set $plain "OTEL_EXPORTER_OTLP_ENDPOINT" . }}{{ end -}}
{{- $plain = mergeOverwrite $plain (deepCopy $values.settings) $own.settings }}
{{- /* JSON, since a number from a values file is a float, which toString writes as 6.7e+07. */}}
{{- range $name, $value := $plain }}
- name: {{ $name }}
  value: {{ ternary $value (toJson $value) (kindIs "string" $value) | quote }}
{{- end }}
{{- include "gateway.targets" . }}
{{- $secrets := list -}}
{{- if .component.database }}{{ $secrets = concat $secrets (list "DATABASE_URL" "DATABASE_DIRECT_URL") }}{{ end -}}
{{- if .component.redis }}{{ $secrets = append $secrets "REDIS_URL" }}{{ end -}}
{{- if .component.kafka }}{{ $secrets = concat $secrets (list "KAFKA_USERNAME" "KAFKA_PASSWORD") }}{{ end -}}
{{- $secrets = concat $secrets (.component.secrets | default list) -}}
{{- $required := list "DATABASE_URL" "REDIS_URL" -}}
{{- if $secrets }}
{{- $secret := $own.existingSecret }}
{{- if and $values.demo.enabled (or .component.database .component.redis) }}
{{- $secret = $secret | default (printf "%s-%s-demo" (include "gateway.prefix" .root) .name) }}
{{- end }}
{{- if or .component.database .component.redis }}
{{- $secret = required (printf "%s.existingSecret is required: a secret with %s" .component.values (ternary "DATABASE_URL" "REDIS_URL" (hasKey .component "database"))) $secret }}
{{- end }}
{{- range $secrets }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ . }}, optional: {{ not (has . $required) }} } }
{{- end }}
{{- end }}
{{- with $values.telemetry.existingSecret }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom: { secretKeyRef: { name: {{ . }}, key: OTEL_EXPORTER_OTLP_HEADERS } }
{{- end }}
{{- end }}

{{/* Port of the collector: that of the URL, or the default of its scheme. */}}
{{- define "gateway.telemetryPort" -}}
{{- $url := urlParse .Values.telemetry.endpoint -}}
{{- regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- end }}

{{/* Public URLs; those of the demo are for `kubectl port-forward`. */}}
{{- define "gateway.apiUrl" -}}
{{- .Values.public.apiUrl | default (ternary "http://127.0.0.1:8080/v1" "" .Values.demo.enabled) -}}
{{- end }}

{{/* The port of a service that speaks HTTP or HTTPS. Takes a dict of root and own, its values. */}}
{{- define "gateway.httpPort" -}}
{{- if not .own.tlsSecret -}}
{ name: http, number: 80 }
{{- else if or .root.Values.ingress.enabled .root.Values.httpRoute.enabled -}}
{{- fail "edgeProxy.tlsSecret and dashboardApi.tlsSecret exclude ingress and httpRoute, which terminate TLS" -}}
{{- else -}}
{ name: https, number: 443 }
{{- end -}}
{{- end }}

{{- define "gateway.dashboardUrl" -}}
{{- .Values.public.dashboardUrl | default (ternary "http://127.0.0.1:8081" "" .Values.demo.enabled) -}}
{{- end }}

{{/* The domain of the services' names in certificates: two releases under one CA do not accept each other. */}}
{{- define "gateway.rpcTlsDomain" -}}
{{- printf "%s.%s.internal" (include "gateway.prefix" .) .Release.Namespace -}}
{{- end }}

{{/* The secret with a service's certificate. Takes a dict of root and name. */}}
{{- define "gateway.rpcTlsSecret" -}}
{{- printf "%s-%s-rpc-tls" (include "gateway.prefix" .root) .name -}}
{{- end }}

{{/* Every service with a certificate, as a JSON array. */}}
{{- define "gateway.certificateOwners" -}}
{{- $services := keys (include "gateway.componentTable" . | fromYaml) -}}
{{- if .Values.demo.enabled }}{{ $services = append $services "demo" }}{{ end -}}
{{- sortAlpha $services | toJson -}}
{{- end }}

{{/* The volume of a service's certificate. A pod waits until all three files are there. Takes a dict of root and name. */}}
{{- define "gateway.rpcTlsVolume" -}}
- name: rpc-tls
  secret:
    secretName: {{ include "gateway.rpcTlsSecret" . }}
    defaultMode: 0440
    items:
      - { key: ca.crt, path: ca.crt }
      - { key: tls.crt, path: tls.crt }
      - { key: tls.key, path: tls.key }
{{- end }}

{{/* Whether a component signs or verifies for whom calls act. Takes a dict of root, name and component. */}}
{{- define "gateway.usesActorKeys" -}}
{{- if or (hasKey (.component.grpc | default dict) "grpc-admin") (has .name (include "gateway.actorSigners" .root | fromJsonArray)) }}true{{ end -}}
{{- end }}

{{/* The services that sign whom they act for, as a JSON array. */}}
{{- define "gateway.actorSigners" -}}
{{- $signers := list "dashboard-api" -}}
{{- if .Values.demo.enabled }}{{ $signers = append $signers "demo" }}{{ end -}}
{{- toJson $signers -}}
{{- end }}

{{/* The secret that a service mounts: its own signing keys, or the public keys of all signers. Takes a dict of root and name. */}}
{{- define "gateway.actorKeysSecret" -}}
{{- $signs := has .name (include "gateway.actorSigners" .root | fromJsonArray) -}}
{{- printf "%s-%s" (include "gateway.prefix" .root) (ternary (printf "%s-actor-keys" .name) "actor-public-keys" $signs) -}}
{{- end }}

{{/* The volume of these keys. A pod waits until the file is there. Takes a dict of root and name. */}}
{{- define "gateway.actorKeysVolume" -}}
{{- $file := ternary "actor-signing-keys.json" "actor-public-keys.json" (has .name (include "gateway.actorSigners" .root | fromJsonArray)) -}}
- name: actor-keys
  secret:
    secretName: {{ include "gateway.actorKeysSecret" . }}
    defaultMode: 0440
    items:
      - { key: {{ $file }}, path: {{ $file }} }
{{- end }}

{{- define "gateway.modelsConfigMap" -}}
{{- .Values.models.existingConfigMap | default (printf "%s-models" (include "gateway.prefix" .)) -}}
{{- end }}
